package peer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
	"github.com/cellscape/cellscape/mercury/host"
)

const (
	// callKind begins the messages of package call: requests and replies.
	callKind = 0xC0
	// escaped precedes an app's message that begins with one of these two bytes.
	escaped = 0xC1
)

// escape returns msg as it goes over a channel.
func (a *app) escape(msg []byte) []byte {
	if len(msg) == 0 || msg[0] != callKind && msg[0] != escaped {
		return msg
	}
	a.scratch = append(append(a.scratch[:0], escaped), msg...)
	return a.scratch
}

// takeCall takes a request or a reply. It drops a peer whose message makes no sense.
func (a *app) takeCall(now time.Duration, ch mercury.ChannelID, msg []byte) {
	if _, err := a.calls.Take(now, ch, msg); err != nil {
		a.log.Warn("dropping a peer", "channel", ch, "error", err)
		a.net.Abort(ch)
		a.Closed(now, ch, mercury.ErrProtocol)
	}
}

// Requested implements call.RequestHandler.
func (a *app) Requested(_ time.Duration, from call.Caller, body []byte) {
	var reply []byte
	err := errors.New("nobody answers here")
	if a.cfg.Answer != nil {
		reply, err = a.cfg.Answer(a.of(from.Channel), body)
	}
	if err != nil {
		err = a.calls.Fail(from, 0, err.Error())
	} else {
		err = a.calls.Reply(from, reply)
	}
	if err != nil && !errors.Is(err, mercury.ErrNoChannel) { // Answer may have closed it
		a.log.Warn("cannot send an answer", "channel", from.Channel, "error", err)
	}
}

// Ask sends a request to the peer, whose Config.Answer answers it. done is called once, with the
// reply, which is valid only during the call, or with an error: a *call.Failure if the peer
// refuses, or the reason why the channel ended. If Ask returns an error, which is Send's, done is
// not called.
func (c Channel) Ask(request []byte, done func(reply []byte, err error)) error {
	_, err := c.ask(request, done)
	return err
}

func (c Channel) ask(request []byte, done func(reply []byte, err error)) (call.ID, error) {
	told := call.ReplyFunc(func(_ time.Duration, _ call.ID, _ uint64, body []byte, err error) { done(body, err) })
	return c.app.calls.Request(0, c.id, call.Request{Body: request, Details: true, Handler: told})
}

// Ask sends a request and waits for the reply, on any goroutine except that of the events. The
// error is one of Channel.Ask or the context's. A reply that comes later is dropped.
func (c *Conn) Ask(ctx context.Context, request []byte) (reply []byte, err error) {
	var id call.ID
	ended := make(chan error, 1)
	stopped := c.Do(func(ch Channel) {
		id, err = ch.ask(request, func(body []byte, why error) {
			reply = slices.Clone(body)
			ended <- why
		})
	})
	if err = errors.Join(stopped, err); err != nil {
		return nil, err
	}
	select {
	case err = <-ended:
		return reply, err
	case <-ctx.Done():
		_ = c.Do(func(ch Channel) { ch.app.calls.Cancel(id) }) // a stopped one has no calls
		return nil, ctx.Err()
	case <-c.Done():
		return nil, host.ErrStopped
	}
}

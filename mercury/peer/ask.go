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

// escape returns msg as it goes over a channel.
func (a *app) escape(msg []byte) []byte {
	if len(msg) == 0 || msg[0] != callKind && msg[0] != escaped {
		return msg
	}
	a.scratch = append(append(a.scratch[:0], escaped), msg...)
	return a.scratch
}

// takeCall takes a request or what ends one. It drops a peer whose message makes no sense.
func (a *app) takeCall(now time.Duration, ch mercury.ChannelID, msg []byte) {
	op, id, body, err := parseFrame(msg)
	switch {
	case err != nil:
		a.log.Warn("dropping a peer", "channel", ch, "error", err)
		a.net.Abort(ch)
		a.Closed(now, ch, mercury.ErrProtocol)
	case op == opRequest:
		a.answer(ch, id, body)
	case op == opReply:
		a.calls.Answer(now, ch, id, body) // one that comes too late is counted there
	default:
		a.calls.Fail(now, ch, id, Failure(body))
	}
}

// answer has Config.Answer answer a request.
func (a *app) answer(ch mercury.ChannelID, id call.ID, body []byte) {
	op := opReply
	var reply []byte
	err := errors.New("nobody answers here")
	if a.cfg.Answer != nil {
		reply, err = a.cfg.Answer(a.of(ch), body)
	}
	if err != nil {
		op, reply = opFailure, failureText(err)
	}
	if err := a.sendFrame(ch, op, id, reply); err != nil && !errors.Is(err, mercury.ErrNoChannel) { // Answer may have closed it
		a.log.Warn("cannot send an answer", "channel", ch, "error", err)
	}
}

// maxScratch is the most that is kept for building messages: a buffer of a megabyte must not stay
// for ever.
const maxScratch = 64 << 10

func (a *app) sendFrame(ch mercury.ChannelID, op operation, id call.ID, body []byte) error {
	msg := appendFrame(a.scratch[:0], op, id, body)
	if cap(msg) <= maxScratch {
		a.scratch = msg
	}
	return a.net.Send(ch, msg)
}

// Ask sends a request to the peer, whose Config.Answer answers it. done is called once, with the
// reply, which is valid only during the call, or with an error: a Failure if the peer refuses, or
// the reason why the channel ended. If Ask returns an error, which is Send's or call.ErrTooMany,
// done is not called.
func (c Channel) Ask(request []byte, done func(reply []byte, err error)) error {
	_, err := c.ask(request, done)
	return err
}

func (c Channel) ask(request []byte, done func(reply []byte, err error)) (call.ID, error) {
	calls := &c.app.calls
	id, err := calls.Begin(0, c.id, 0, func(_ time.Duration, reply []byte, err error) { done(reply, err) })
	if err != nil {
		return 0, err
	}
	if err := c.app.sendFrame(c.id, opRequest, id, request); err != nil {
		calls.Cancel(id)
		return 0, err
	}
	return id, nil
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

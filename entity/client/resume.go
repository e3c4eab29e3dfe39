package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/tail"
	"github.com/cellscape/cellscape/mercury"
)

// This file lets a session go on over another channel when its own is lost. The package comment of
// protocol says what both sides count.

const (
	// MaxUnsettled bounds what a client keeps of its calls until the server has settled them, in bytes,
	// 16 more for each: some seconds of what a server takes.
	MaxUnsettled = 256 << 10

	// heardPeriod is how often the server is told at most what has come, but for heardMany bytes. The server
	// keeps as much until it is told.
	heardPeriod = time.Second
	heardMany   = 64 << 10

	// The client dials again after firstTry, then after twice as long, up to mostTry; half of that is
	// up to chance, so that those who lost a server together do not come back together. tryTimeout is
	// how long a channel may take until it is open and answered.
	firstTry   = 200 * time.Millisecond
	mostTry    = 4 * time.Second
	tryTimeout = 4 * time.Second
)

// ErrUnsettled is returned by a call if too much waits that the server has not settled, because the
// connection is lost or too slow. The call was not made.
var ErrUnsettled = errors.New("client: too much waits for the server")

// lifeline is what a session needs to go on over another channel.
type lifeline struct {
	token, former protocol.Token // former is the one before; zero for none
	time          time.Duration  // 0: the session ends with its channel
	doors         []protocol.Door
	at            int // that of the doors by which the last channel came
	// fallback is where the session goes on if that BaseApp is gone.
	fallback []protocol.Door
	scout    scout
	anew     bool // it has begun once more, and its entity is yet to come

	has       protocol.Counts // messages that have come
	toldHas   protocol.Counts
	heardAt   time.Duration // when the server may be told again
	sinceTold int           // bytes that have come since

	uploads  tail.Tail // not settled
	uploaded uint64    // the number of the last
	settled  uint64

	lost    error // why there is no channel; nil while there is one
	until   time.Duration
	tries   int
	tryAt   time.Duration // when to dial again, while there is no channel
	giveUp  time.Duration // when to give up a channel that does not answer
	dialled bool
	// switched is when the session was sent elsewhere; see switch.go.
	switched time.Duration
	sentOn   int // how often since there was a channel
}

// Interrupted returns why the client has no connection now and dials again by itself, and, once it was not
// let in, why not; nil otherwise. Meanwhile it stays Playing: its replicas stay as they are, calls are kept
// until they can be sent, and the player may move.
func (c *Client) Interrupted() error { return c.life.lost }

// Reconnect gives up the connection and dials again, as if it had been lost: for a machine that knows that
// it has changed its network, before silence tells. It does nothing unless the client is Playing, and
// connected to a server that keeps its place.
func (c *Client) Reconnect() {
	if !c.resumable() || c.life.lost != nil || c.state != Playing {
		return
	}
	if door, ok := c.choose(c.life.doors); ok { // the other network may have what the last one lacked
		c.life.use(door)
	}
	c.cfg.Transport.Abort(c.ch)
	c.interrupt(errGivenUp)
}

// errGivenUp is why a client is interrupted that reconnects.
var errGivenUp = errors.New("client: the connection was given up for another")

// resumable reports whether the session may go on after the loss of its channel. Before the first word
// of the BaseApp it may if there is another door: the token of the login opens that, too.
func (c *Client) resumable() bool {
	l := &c.life
	switch {
	case c.leaving:
		return false
	case c.state == Attaching:
		return len(l.fallback) > 0 || c.ownDoor(1) != l.door()
	}
	return c.state == Playing && l.time > 0
}

// comesBack reports whether a channel that ended for that reason may be followed by another. If the
// app has started anew, it knows of no session.
func (c *Client) comesBack(reason error) bool {
	for _, end := range []error{mercury.ErrPeerClosed, mercury.ErrProtocol, mercury.ErrMessageTooLong, mercury.ErrKey} {
		if errors.Is(reason, end) {
			return false
		}
	}
	return len(c.life.fallback) > 0 || !errors.Is(reason, mercury.ErrPeerRestarted)
}

// interrupt is called when the channel of a session is lost.
func (c *Client) interrupt(reason error) {
	l := &c.life
	old := c.ch
	c.ch = 0
	l.lost, l.until, l.tries, l.dialled, l.sentOn = reason, c.now+l.time, 0, false, 0
	c.waitToDial()
	if c.state == Attaching { // the player sees a login that takes its time
		l.until = c.deadline
		return
	}
	c.abortDownloads(old, reason)
	if c.state != Playing { // the game has ended the session for that
		return
	}
	c.stats.Interrupted++
	c.log.Info("interrupted", "reason", reason)
	if c.cfg.Events.Interrupted != nil {
		c.cfg.Events.Interrupted(reason)
	}
}

// waitToDial sets when to dial next. The token is random, and so are its bytes.
func (c *Client) waitToDial() {
	l := &c.life
	d := min(firstTry<<min(l.tries, 16), mostTry)
	l.tryAt = c.now + d/2 + d/2*time.Duration(l.token[l.tries%len(l.token)])/256
}

// failed is called when a try to resume has failed.
func (c *Client) failed(reason error) {
	c.ch, c.life.dialled = 0, false
	if !c.comesBack(reason) && len(c.life.fallback) == 0 {
		c.close(fmt.Errorf("client: %v: %w", c.state, reason))
		return
	}
	c.missed(reason)
	c.life.tries++
	c.waitToDial()
}

// keptAway is why a client has no connection, and why it was not let in since.
type keptAway struct{ lost, missed error }

func (k *keptAway) Error() string {
	return fmt.Sprintf("%v; tries to come back failed: %v", k.lost, k.missed)
}
func (k *keptAway) Unwrap() []error { return []error{k.lost, k.missed} }

// missed keeps why a client that has no connection was not let in: of several reasons the newest, but a
// silence tells less than an answer.
func (c *Client) missed(reason error) {
	l := &c.life
	k, again := l.lost.(*keptAway)
	switch {
	case l.lost == nil:
	case !again:
		l.lost = &keptAway{l.lost, reason}
	case !errors.Is(reason, mercury.ErrTimeout):
		l.lost = &keptAway{k.lost, reason} // the game may hold the other
	}
}

// tryToResume dials when it is time, and gives up what takes too long.
func (c *Client) tryToResume() {
	l := &c.life
	c.lookElsewhere()
	switch {
	case l.lost == nil || c.state != Playing && c.state != Attaching:
	case c.now >= l.until:
		c.close(fmt.Errorf("client: %v: the connection did not come back in %v: %w", c.state, l.time, l.lost))
	case l.dialled && c.now >= l.giveUp:
		c.cfg.Transport.Abort(c.ch)
		c.failed(mercury.ErrTimeout)
	case !l.dialled && c.now >= l.tryAt:
		c.redial()
	}
}

// redial tries the last door, and then the others of that BaseApp: its network may be what is gone. The scout
// tries the fallback.
func (c *Client) redial() {
	l := &c.life
	l.dialled, l.giveUp = true, c.now+tryTimeout
	var err error
	if c.ch, err = c.dial(c.ownDoor(l.tries)); err != nil {
		c.failed(err)
	}
}

// askToResume is the first word on a new channel.
func (c *Client) askToResume(ch mercury.ChannelID) {
	l := &c.life
	m := protocol.Resume{Token: l.token, Former: l.former, Digest: protocol.Digest(c.cfg.Schema.ClientDigest), Ready: !c.cfg.EnableLater,
		Has: l.has, Incarnation: c.incarnation}
	c.sendOver(ch, m.Append(c.buf[:0]))
}

// onResumed goes on. The server sends what has not come, and the client what the server has not
// handled.
func (c *Client) onResumed(body []byte) error {
	var m protocol.Resumed
	if err := m.Parse(body); err != nil {
		return err
	}
	l := &c.life
	if l.lost == nil || m.Handled > l.uploaded || m.Handled < l.settled {
		return malformed("resumed after %d uploads of %d, %d of them settled", m.Handled, l.uploaded, l.settled)
	}
	for i, n := range m.From {
		if n > l.has[i] {
			return malformed("resumed from %d messages, of which %d have come", n, l.has[i])
		}
	}
	c.dismissScout()
	l.use(c.ownDoor(l.tries))
	l.former = l.token
	l.token, l.has, l.lost, l.dialled = m.Token, m.From, nil, false
	l.uploads.Rewind()
	for {
		number, _, ok := l.uploads.Next()
		if !ok || number > m.Handled {
			break
		}
		l.uploads.Sent()
	}
	c.sayHeard()
	c.sendUploads()
	if c.leaving {
		c.send(protocol.AppendLogout(c.buf[:0]))
	}
	if c.state != Playing {
		return nil // its first word follows
	}
	c.stats.Resumed++
	c.log.Info("resumed")
	if c.cfg.Events.Resumed != nil {
		c.cfg.Events.Resumed()
	}
	return nil
}

// count counts a reliable message of the server.
func (c *Client) count(bundle []byte) error {
	stream := protocol.StreamOf(bundle)
	if stream == protocol.NoStream || c.state != Playing && c.state != Attaching {
		return nil
	}
	l := &c.life
	if l.lost != nil {
		return malformed("a message before the session went on")
	}
	l.has[stream]++
	if l.sinceTold += len(bundle); l.sinceTold >= heardMany && l.time > 0 {
		c.sayHeard()
	}
	return nil
}

// tellHeard tells the server now and then what has come.
func (c *Client) tellHeard() {
	if l := &c.life; c.resumable() && l.lost == nil && l.has != l.toldHas && c.now >= l.heardAt {
		c.sayHeard()
	}
}

func (c *Client) sayHeard() {
	l := &c.life
	m := protocol.Heard{Has: l.has}
	c.send(m.Append(c.buf[:0]))
	l.toldHas, l.heardAt, l.sinceTold = l.has, c.now+heardPeriod, 0
}

// upload sends a message that must not be lost with the channel.
func (c *Client) upload(msg []byte) error {
	c.buf = msg
	l := &c.life
	if l.time == 0 {
		c.send(msg)
		return nil
	}
	if l.uploads.Size()+len(msg)+tail.Overhead > MaxUnsettled {
		c.unsent(mercury.ErrFull)
		return ErrUnsettled
	}
	l.uploaded++
	l.uploads.Add(0, l.uploaded, msg)
	c.sendUploads()
	return nil
}

// sendUploads sends what the channel has not been given, as far as there is room.
func (c *Client) sendUploads() {
	l := &c.life
	for l.lost == nil && c.state == Playing {
		_, msg, ok := l.uploads.Next()
		if !ok || c.cfg.Transport.Send(c.ch, msg) != nil {
			return // a channel without room has some later, and one that has ended says so
		}
		c.stats.BytesUp += uint64(len(msg))
		l.uploads.Sent()
	}
}

func (c *Client) onSettled(body []byte) error {
	n, err := protocol.ParseSettled(body)
	if err != nil {
		return err
	}
	l := &c.life
	if n > l.uploaded {
		return malformed("%d uploads settled of %d", n, l.uploaded)
	}
	l.settled = max(l.settled, n)
	for {
		if _, number, ok := l.uploads.First(); !ok || number > n {
			return nil
		}
		l.uploads.Drop()
	}
}

func (c *Client) onFallback(body []byte) error {
	var m protocol.Fallback
	if err := m.Parse(body); err != nil {
		return err
	}
	c.life.fallback = m.Doors
	return nil
}

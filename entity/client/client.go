package client

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// State is how far a session has come.
type State uint8

// The states of a session, in order.
const (
	// Idle: not ticked yet.
	Idle State = iota
	// LoggingIn: at the LoginApp.
	LoggingIn
	// Attaching: at the BaseApp, not yet accepted by the proxy.
	Attaching
	// Playing: accepted by the proxy.
	Playing
	// Closed: over; Err says why.
	Closed
)

// String names the state.
func (s State) String() string {
	return enum.Name(s, "state", []string{
		Idle:      "idle",
		LoggingIn: "logging in",
		Attaching: "attaching",
		Playing:   "playing",
		Closed:    "closed",
	})
}

// ErrEnded is Err after Close.
var ErrEnded = errors.New("client: closed by its owner")

// Scratch is memory in which a client takes messages apart. It holds nothing from one to the next.
type Scratch struct {
	reader     protocol.PositionsReader
	fetched    uint32 // see fetch
	compressor property.Compressor
	parameters script.Parameters // of calls of scripts
}

// Client is one session of one player. It is a mercury.Handler with a Tick; see the package
// comment.
type Client struct {
	cfg      Config
	log      *slog.Logger
	stats    Stats
	state    State
	err      error
	now      time.Duration
	started  bool
	due      time.Duration
	deadline time.Duration // of LoggingIn, Attaching and of a Logout
	leaving  bool          // Logout was called
	ch       mercury.ChannelID
	token    protocol.Token // of the login
	life     lifeline
	buf      []byte // scratch of send

	scratch   *Scratch
	downloads *downloads // nil before the first

	enabled  bool // the server knows that the client is ready
	player   *Replica
	inWorld  bool
	space    entity.SpaceID
	entities replicas
	kept     []kept              // by slot
	data     []entity.SpaceDatum // by key and id
	day      dayClock
	// bundle is the number of the last bundle of the cell part, within its incarnation; 0 before
	// any.
	bundle uint64
	// seen is what has come, as the server is told; toldSeen is what it was told last.
	seen, toldSeen protocol.Seen
	aliases        aliases

	sequence    uint32      // of the last Move sent
	incarnation uint32      // of the player's real, sent with every move
	forced      uint32      // number of the last forced place, sent with every move
	control     bool        // the client moves the player's entity, not the server
	dirty       bool        // the player moved since the last Move
	moving      bool        // the last Move went unreliably
	muted       bool        // by a Stage: nobody hears
	charges     []charge    // what it moves beside it
	riders      *[]*Replica // on vehicles, by vehicle and id, the player's own too; nil before the first
}

// New returns a client that begins at its first Tick. Its error lists all faults of cfg.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Tick = cmp.Or(cfg.Tick, DefaultTick)
	if len(cfg.Networks) == 0 {
		cfg.Networks = []string{protocol.UDP}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.PropertyStats == nil {
		cfg.PropertyStats = property.NewLoggedStats(cfg.Schema, cfg.Log)
	}
	if cfg.Scratch == nil {
		cfg.Scratch = new(Scratch)
	}
	c := &Client{cfg: cfg, scratch: cfg.Scratch, log: cfg.Log.With("user", cfg.User)}
	return c, nil
}

// State is how far the session has come.
func (c *Client) State() State { return c.state }

// Err returns why the session ended; nil before.
func (c *Client) Err() error { return c.err }

// Stats returns the counts so far.
func (c *Client) Stats() Stats { return c.stats }

// PropertyStats counts the changes that the client has received, by type and property.
func (c *Client) PropertyStats() *property.Stats { return c.cfg.PropertyStats }

// InWorld reports whether the player's entity has a cell part, so that SetPosition works.
func (c *Client) InWorld() bool { return c.inWorld }

// Space is the space that the player is in, 0 outside of any.
func (c *Client) Space() entity.SpaceID { return c.space }

// SpaceData returns an entry of the data of the player's space: of several under a key the one with
// the lowest id, which is the only one if it was set as such. Do not change it.
func (c *Client) SpaceData(key uint16) (value []byte, ok bool) {
	for _, v := range c.AllSpaceData(key) {
		return v, true
	}
	return nil, false
}

// AllSpaceData yields all entries of a key of the data of the player's space, by id.
func (c *Client) AllSpaceData(key uint16) iter.Seq2[entity.DataID, []byte] {
	return func(yield func(entity.DataID, []byte) bool) {
		for i, _ := c.findData(key, 0); i < len(c.data) && c.data[i].Key == key; i++ {
			if !yield(c.data[i].ID, c.data[i].Value) {
				return
			}
		}
	}
}

// Tick dials at its first call. Later it sends the player's place when that is due, and gives up on
// what takes too long. It returns when the next Tick is due.
func (c *Client) Tick(now time.Duration) (next time.Duration) {
	c.now = now
	if !c.started {
		c.started, c.due = true, now
		c.begin()
	}
	if now < c.due {
		return c.due
	}
	c.due += c.cfg.Tick
	if c.due <= now {
		c.due = now + c.cfg.Tick
	}
	c.expire()
	c.tryToResume()
	c.enableAgain()
	c.sendUploads()
	c.sendMove()
	c.sendCharges()
	c.tellHeard()
	if c.downloads != nil {
		c.downloads.Pump(now)
	}
	return c.due
}

func (c *Client) begin() {
	if c.state != Idle {
		return
	}
	c.state = LoggingIn
	c.deadline = c.now + LoginTimeout
	c.ch = c.cfg.Transport.Dial(mercury.Address{At: c.cfg.LoginApp})
}

// expire ends the session when an answer is overdue.
func (c *Client) expire() {
	if c.state == Closed || c.state == Idle || c.now < c.deadline {
		return
	}
	switch {
	case c.leaving:
		c.close(&protocol.Refused{Code: protocol.LoggedOut})
	case c.state == LoggingIn:
		c.close(fmt.Errorf("client: no answer from the LoginApp at %v in %v: %w", c.cfg.LoginApp, LoginTimeout, mercury.ErrTimeout))
	case c.state == Attaching && c.life.lost != nil:
		c.close(fmt.Errorf("client: no answer from the BaseApp, nor from others, in time: %w: %w", mercury.ErrTimeout, c.life.lost))
	case c.state == Attaching:
		c.close(fmt.Errorf("client: no answer from the BaseApp in time: %w", mercury.ErrTimeout))
	}
}

// Opened implements mercury.Handler. A client accepts no channels, so it aborts one that was opened
// from outside.
func (c *Client) Opened(now time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	c.now = now
	if c.isScout(ch) {
		c.life.scout.giveUp = now + scoutTime
		c.askToResume(ch)
		return
	}
	if ch != c.ch || c.state == Closed {
		c.cfg.Transport.Abort(ch)
		return
	}
	digest := protocol.Digest(c.cfg.Schema.ClientDigest)
	switch c.state {
	case LoggingIn:
		m := protocol.Login{Version: protocol.Version, Digest: digest, User: c.cfg.User, Password: c.cfg.Password}
		c.send(m.Append(c.buf[:0]))
	case Attaching:
		if c.life.lost != nil { // the BaseApp may have heard the Attach
			c.askToResume(ch)
			return
		}
		m := protocol.Attach{Token: c.token, Digest: digest, Ready: !c.cfg.EnableLater}
		c.send(m.Append(c.buf[:0]))
	case Playing:
		c.askToResume(ch)
	}
}

// Closed implements mercury.Handler.
func (c *Client) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	c.now = now
	if c.isScout(ch) {
		c.missed(reason)
		c.scoutFailed()
		return
	}
	if ch != c.ch || c.state == Closed {
		return
	}
	if c.life.lost != nil && !c.leaving {
		c.failed(reason)
		return
	}
	if c.resumable() && c.comesBack(reason) {
		c.interrupt(reason)
		return
	}
	c.ch = 0
	if c.leaving {
		c.close(&protocol.Refused{Code: protocol.LoggedOut})
		return
	}
	c.close(fmt.Errorf("client: %v: %w", c.state, reason))
}

// Logout ends the session properly. It ends when the server agrees or after LogoutTimeout, in
// either case with a *protocol.Refused of protocol.LoggedOut. The player's entity then leaves the
// world, unlike after Close.
func (c *Client) Logout() {
	switch {
	case c.state == Closed || c.leaving:
	case c.state != Playing:
		c.close(&protocol.Refused{Code: protocol.LoggedOut})
	default:
		c.leaving = true
		c.deadline = c.now + LogoutTimeout
		if c.life.lost == nil {
			c.send(protocol.AppendLogout(c.buf[:0]))
		}
	}
}

// Close drops the connection at once, as a crash of the player's machine would. There is no Closed
// event; Err is ErrEnded.
func (c *Client) Close() {
	if c.state == Closed {
		return
	}
	c.state, c.err, c.life.lost = Closed, ErrEnded, nil
	c.dismissScout()
	if c.ch != 0 {
		c.cfg.Transport.Abort(c.ch)
		c.ch = 0
	}
}

// close ends the session for a reason other than Close.
func (c *Client) close(err error) {
	c.state, c.err, c.inWorld, c.life.lost = Closed, err, false, nil
	c.dismissScout()
	c.abortDownloads(c.ch, err)
	if c.ch != 0 {
		c.cfg.Transport.Close(c.ch)
		c.ch = 0
	}
	c.log.Info("session over", "reason", err)
	if c.cfg.Events.Closed != nil {
		c.cfg.Events.Closed(err)
	}
}

// send sends reliably.
func (c *Client) send(msg []byte) { c.sendOver(c.ch, msg) }

func (c *Client) sendOver(ch mercury.ChannelID, msg []byte) {
	c.buf = msg
	c.stats.BytesUp += uint64(len(msg))
	c.unsent(c.cfg.Transport.Send(ch, msg))
}

// unsent counts a failure that is not followed by Closed, and reports whether there was a failure
// of any kind.
func (c *Client) unsent(err error) bool {
	if errors.Is(err, mercury.ErrFull) || errors.Is(err, mercury.ErrMessageTooLong) {
		c.stats.Unsent++
		if c.stats.Unsent == 1 { // Stats counts the others
			c.log.Warn("message not sent", "reason", err)
		}
	}
	return err != nil
}

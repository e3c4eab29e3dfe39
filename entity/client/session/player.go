package session

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// retryPeriod is the time from a failed login to the next try: short for a player who waits, and
// long enough for a LoginApp with thousands of players.
const retryPeriod = time.Second

// player is a client as an App of a Host. It begins again while the world is not ready, and
// publishes its progress.
type player struct {
	*client.Client
	cfg     client.Config
	retry   bool
	now     time.Duration // of the last tick
	retryAt time.Duration // 0 if no try is planned
	told    *progress
	state   client.State // last published
	entered bool         // already published
}

func newPlayer(cfg client.Config, retry bool, told *progress) (p *player, err error) {
	p = &player{cfg: cfg, retry: retry, told: told}
	if closed := cfg.Events.Closed; closed != nil {
		p.cfg.Events.Closed = func(err error) {
			if !p.again(err) {
				closed(err)
			}
		}
	}
	p.cfg.Events.Waiting = func(position, of int) {
		p.told.wait(position, of)
		if cfg.Events.Waiting != nil {
			cfg.Events.Waiting(position, of)
		}
	}
	p.Client, err = client.New(p.cfg)
	return p, err
}

// again reports whether an error at this point is followed by another try.
func (p *player) again(err error) bool {
	if !p.retry || p.state >= client.Playing {
		return false
	}
	var refused *protocol.Refused
	if errors.As(err, &refused) {
		return refused.Code == protocol.NotReady || refused.Code == protocol.ServerBusy
	}
	for _, reason := range []error{mercury.ErrTimeout, mercury.ErrPeerClosed, mercury.ErrPeerAborted, mercury.ErrPeerRestarted} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Tick implements host.App.
func (p *player) Tick(now time.Duration) (next time.Duration) {
	p.now = now
	if p.retryAt != 0 && now >= p.retryAt {
		p.retryAt = 0
		p.begin()
	}
	next = p.Client.Tick(now)
	p.look()
	return next
}

// begin makes the client of the next try.
func (p *player) begin() {
	c, err := client.New(p.cfg)
	if err != nil { // impossible, since the Config was valid before
		p.told.end(err)
		return
	}
	p.Client, p.state = c, client.Idle
}

// Opened implements mercury.Handler.
func (p *player) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	p.Client.Opened(now, ch, peer)
	p.look()
}

// Message implements mercury.Handler.
func (p *player) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	p.Client.Message(now, ch, reliable, msg)
	p.look()
}

// Closed implements mercury.Handler.
func (p *player) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	p.Client.Closed(now, ch, reason)
	p.look()
}

// look publishes what is new.
func (p *player) look() {
	if p.InWorld() && !p.entered {
		p.entered = true
		close(p.told.entered)
	}
	state := p.State()
	if state == p.state {
		return
	}
	switch err := p.Err(); {
	case state != client.Closed:
	case p.again(err):
		p.retryAt = p.now + retryPeriod
		p.told.refuse(err)
	default:
		p.told.end(err)
	}
	p.state = state
	p.told.reach(state)
}

// progress is what other goroutines can see of a player.
type progress struct {
	entered chan struct{} // closed when the player has been in the world
	over    chan struct{} // closed when the session is over

	mu      sync.Mutex
	state   client.State
	place   [2]int // in the queue of a full world, and of how many; 0 for none
	refusal error  // of the last login that is tried again
	err     error  // why it is over
	closed  bool   // over is closed
}

func (s *progress) reach(state client.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.place = state, [2]int{}
}

func (s *progress) wait(position, of int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place = [2]int{position, of}
}

func (s *progress) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = err
}

func (s *progress) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.shut()
	}
}

// close notes that the session's process has ended, whatever has ended it.
func (s *progress) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut()
}

func (s *progress) shut() {
	if !s.closed {
		s.closed = true
		close(s.over)
	}
}

// reason returns why the session is over, nil before.
func (s *progress) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// lacks says what a player waits for; "" once the player has been in the world.
func (s *progress) lacks() (what string, refusal error) {
	select {
	case <-s.entered:
		return "", nil
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == client.Playing:
		return "the player's entity has no cell part yet", nil
	case s.place[0] > 0:
		return fmt.Sprintf("the player waits at place %d of %d", s.place[0], s.place[1]), &protocol.Refused{Code: protocol.WorldFull}
	case s.refusal != nil:
		return "the world is not ready", s.refusal
	case s.state == client.Attaching:
		return "the BaseApp has not answered yet", nil
	}
	return "the LoginApp has not answered yet", nil
}

package loginapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
)

// state is how far a login has come.
type state uint8

const (
	fresh    state = iota // no message yet
	checking              // waiting for Auth
	waiting               // for room in the world
	placing               // waiting for the BaseAppMgr
	answered              // the client may close the channel
	states
)

// timeout bounds each state but placing, which ends with its question, and waiting, which ends with its
// place in the queue.
func (s state) timeout() time.Duration {
	return [states]time.Duration{fresh: LoginTimeout, checking: AuthTimeout, answered: CloseAfter}[s]
}

// login is one channel of a client. A channel carries one login, and its id is never used again, so
// the id also names the job.
type login struct {
	ch     mercury.ChannelID
	state  state
	user   string
	placed call.ID // the question of placing
	place  *place  // while waiting or placing
}

// logins are looked up by channel. Where order matters, it is that of the queues.
type logins struct {
	byChannel map[mercury.ChannelID]*login
	// jobs are the logins that Auth is checking. Each stays until its result comes, even if its
	// client has left, so that clients cannot start jobs without bound by reconnecting quickly.
	jobs map[mercury.ChannelID]bool
	// queues hold, for each state, the logins that entered it, in order of their timeouts. Logins
	// that have left the state are skipped.
	queues [states][]entry
}

type entry struct {
	at time.Duration
	ch mercury.ChannelID
}

func newLogins() logins {
	return logins{byChannel: make(map[mercury.ChannelID]*login), jobs: make(map[mercury.ChannelID]bool)}
}

func (s *logins) open(now time.Duration, ch mercury.ChannelID) {
	in := &login{ch: ch}
	s.byChannel[ch] = in
	s.enter(now, in, fresh)
}

// enter moves a login to a state and starts the state's timeout.
func (s *logins) enter(now time.Duration, in *login, to state) {
	in.state = to
	s.queues[to] = append(s.queues[to], entry{now + to.timeout(), in.ch})
}

// empty reports whether there are none, and none has a timeout to come.
func (s *logins) empty() bool {
	for i := range s.queues {
		if len(s.queues[i]) > 0 {
			return false
		}
	}
	return len(s.byChannel)+len(s.jobs) == 0
}

// pending is the number of logins under way.
func (l *LoginApp) pending() int { return len(l.logins.jobs) + l.links.Asked() }

// drop forgets a login whose channel is gone. The BaseApp drops the proxy that no one attaches to.
func (l *LoginApp) drop(ch mercury.ChannelID) {
	if in := l.logins.byChannel[ch]; in != nil {
		l.forget(in)
		l.leaveQueue(in)
		delete(l.logins.byChannel, ch)
	}
}

// forget takes back the question for a proxy. If one is made, its BaseApp drops it.
func (l *LoginApp) forget(in *login) {
	l.links.Forget(in.placed)
	in.placed = 0
}

// end closes a client's channel. What was sent on it still arrives.
func (l *LoginApp) end(in *login) {
	l.cfg.Transport.Close(in.ch)
	l.drop(in.ch)
}

// expire ends logins that have been in one state for too long.
func (l *LoginApp) expire(now time.Duration) {
	for s := range states {
		queue, i := l.logins.queues[s], 0
		for ; i < len(queue) && queue[i].at <= now; i++ {
			if in := l.logins.byChannel[queue[i].ch]; in != nil && in.state == s {
				l.overdue(now, in)
			}
		}
		l.logins.queues[s] = slices.Delete(l.logins.queues[s], 0, i)
	}
}

func (l *LoginApp) overdue(now time.Duration, in *login) {
	switch in.state {
	case fresh, answered:
		l.end(in)
	default:
		l.note(now, slog.LevelWarn, "login takes too long", in)
		l.refuse(now, in, protocol.ServerBusy)
	}
}

// fromClient takes a client's message. After the answer it drops all messages, since none are
// expected.
func (l *LoginApp) fromClient(now time.Duration, in *login, reliable bool, msg []byte) {
	if in.state == answered {
		return
	}
	var m protocol.Login
	if err := parseLogin(&m, in.state, reliable, msg); err != nil {
		// No level above Debug, or strangers could fill the log.
		l.log.Debug("login malformed", "error", err)
		l.refuse(now, in, protocol.Malformed)
		l.end(in)
		return
	}
	in.user = m.User
	switch {
	case m.Version != protocol.Version:
		l.refuseForeign(now, in, protocol.ForeignVersion(m.Version))
	case m.Digest != l.digest():
		l.refuseForeign(now, in, protocol.ForeignDigest(m.Digest, l.digest()))
	case l.closing():
		l.refuse(now, in, protocol.ServerClosing)
	case !l.baseAppMgr.joined:
		l.refuse(now, in, protocol.NotReady)
	case l.waits(now) && !l.hasPlaces():
		l.refuse(now, in, protocol.WorldFull)
	case l.pending() >= l.cfg.MaxPending:
		l.refuse(now, in, protocol.ServerBusy)
	default:
		l.logins.jobs[in.ch] = true
		l.logins.enter(now, in, checking)
		l.cfg.Jobs.Do(uint64(in.ch), authenticate(l.cfg.Auth, m.User, m.Password))
	}
}

// digest is of the definitions, as far as clients see them.
func (l *LoginApp) digest() protocol.Digest { return protocol.Digest(l.cfg.Schema.ClientDigest) }

// refuseForeign turns away a client that is not of this world. The log says so: many of them mean
// that players lack an update, or have one too early.
func (l *LoginApp) refuseForeign(now time.Duration, in *login, no protocol.Refused) {
	l.note(now, slog.LevelInfo, "a client of another build or of other definitions was refused", in, "reason", no.Reason)
	l.refuseAs(now, in, &no)
}

// parseLogin reads a bundle that must be a single Login, the first of its channel.
func parseLogin(m *protocol.Login, s state, reliable bool, msg []byte) error {
	seen := false
	if err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
		if seen || id != protocol.LoginID {
			return fmt.Errorf("%w: message %d where one login belongs", protocol.ErrMalformed, id)
		}
		seen = true
		err := m.Parse(body)
		if err != nil && len(body) >= 2 && m.Version != protocol.Version {
			// The version comes first in every version of a login; the rest may differ.
			return nil
		}
		return err
	}); err != nil {
		return err
	}
	if !seen || !reliable || s != fresh {
		return fmt.Errorf("%w: empty, unreliable or second login", protocol.ErrMalformed)
	}
	return nil
}

// JobDone takes the result of a job from Config.Jobs, with the job's token. It drops a result that
// no one waits for.
func (l *LoginApp) JobDone(now time.Duration, token uint64, result any) {
	l.wake(now)
	ch := mercury.ChannelID(token)
	if uint64(ch) != token || !l.logins.jobs[ch] {
		return
	}
	delete(l.logins.jobs, ch)
	in := l.logins.byChannel[ch]
	if in == nil || in.state != checking {
		return
	}
	player, no := l.judge(now, in, result)
	switch {
	case no != nil:
		l.refuseAs(now, in, no)
		return
	case l.closing():
		l.refuse(now, in, protocol.ServerClosing)
		return
	case !l.baseAppMgr.joined:
		l.refuse(now, in, protocol.NotReady)
		return
	}
	p := l.newPlace(now, in, player)
	p.back = l.waits(now)
	l.place(now, p)
}

// place asks for the proxy of a player.
func (l *LoginApp) place(now time.Duration, p *place) {
	c := wire.CreateProxy{Account: p.player.Account, Refusals: l.queue.refusals, Back: p.back, Plays: p.player.plays()}
	id, err := app.Ask(&l.links, l.baseAppMgr.Channel(), PlaceTimeout, &c, func(now time.Duration, made *wire.ProxyMade, err error) {
		p.asked, p.in.placed = false, 0
		l.proxyMade(now, p, made, err)
	})
	if err != nil {
		l.refuse(now, p.in, protocol.ServerBusy)
		return
	}
	p.asked, p.in.state, p.in.placed = true, placing, id
}

// judge turns a job's result into a player, or a refusal.
func (l *LoginApp) judge(now time.Duration, in *login, result any) (player Player, no *protocol.Refused) {
	var err error
	switch v := result.(type) {
	case verdict:
		if player, err = v.player, v.err; err == nil {
			err = player.check()
		}
	case error:
		err = errors.Join(ErrUnavailable, v)
	default:
		err = fmt.Errorf("%w: the job's result is a %T", ErrUnavailable, result)
	}
	switch {
	case err == nil:
		return player, nil
	case errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		l.report.Errors++
		l.note(now, slog.LevelError, "auth failed", in, "error", err)
		return Player{}, &protocol.Refused{Code: protocol.ServerBusy}
	}
	l.note(now, slog.LevelInfo, "login refused", in, "error", err)
	if errors.As(err, &no) && no.Code != 0 {
		return Player{}, no
	}
	return Player{}, &protocol.Refused{Code: protocol.BadCredentials}
}

// proxyMade answers the client that waits for a proxy.
func (l *LoginApp) proxyMade(now time.Duration, p *place, made *wire.ProxyMade, err error) {
	in, code := p.in, protocol.NotReady // the BaseAppMgr is gone
	switch {
	case err == nil:
		code = protocol.Code(made.Code)
	case errors.Is(err, call.ErrTimeout):
		code = protocol.ServerBusy
	case p.queued: // it goes on waiting, for the BaseAppMgr first
		in.state = waiting
		return
	}
	if code == protocol.WorldFull && p.back {
		p.back = false
		l.wait(now, p)
		return
	}
	// A BaseAppMgr that has just started knows of no BaseApp yet: who has waited until now waits on.
	if code == protocol.WorldFull || code == protocol.NotReady && p.queued {
		l.noRoom(now, p)
		return
	}
	if code != 0 {
		if err == nil { // it was answered
			err = &protocol.Refused{Code: code}
		}
		l.note(now, slog.LevelInfo, "login refused", in, "error", err)
		l.refuse(now, in, code)
		return
	}
	l.leaveQueue(in)
	l.log.Info("login", "user", in.user, "entity", made.ID, "at", made.Doors)
	ok := protocol.LoginOK{Doors: made.Doors, Fallback: made.Fallback, Token: made.Token, Ticket: l.ticket(now, in, made.Doors)}
	l.send(in.ch, ok.Append(l.buf[:0]))
	l.logins.enter(now, in, answered)
}

// ticket returns a ticket for a client that came over UDP and goes on over UDP, nil if there is
// none.
func (l *LoginApp) ticket(now time.Duration, in *login, base []protocol.Door) []byte {
	to, there := protocol.Over(base, protocol.UDP)
	if l.cfg.Tickets == nil || !there || l.network(in.ch) != protocol.UDP {
		return nil
	}
	peer, ok := l.cfg.Transport.Peer(in.ch)
	if !ok {
		return nil
	}
	ticket := l.cfg.Tickets.Mint(now, to.Address, peer.At.Addr())
	if len(ticket) > mercury.MaxTicket {
		return nil
	}
	return ticket
}

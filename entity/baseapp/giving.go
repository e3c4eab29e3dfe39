package baseapp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// This file gives clients to bases on other BaseApps. give.go draws the states, and says what holds.

const (
	// giveTime is how long a client may be on its way to another BaseApp: longer than the death of
	// one takes to be noticed and healed.
	giveTime = limits.DefaultCallTime

	// maxGivenTail bounds what waits for a client that goes to another BaseApp, since it travels
	// with it in one message: four times what makes a client slow.
	maxGivenTail = 4 * SlowClient
)

type givingState uint8

const (
	givingWanted givingState = iota
	givingSent
	givingOver // the session has ended, and the script is about to hear it
)

// giving is a client on its way to a base on another app.
type giving struct {
	to     entity.ID
	method string
	state  givingState
	number uint64        // of the copy that knows of it, as in commit
	until  time.Duration // when it is given up
	err    error         // why it is over
}

func (g *giving) code(c *codec.Coder) {
	fields.ID(c, &g.to)
	c.String(&g.method, script.MaxName)
	codec.Enum(c, &g.state, givingWanted, givingOver)
}

// gives reports whether the base's seat stands still, because it is on its way to another app.
func (b *base) gives() bool { return b.giving != nil && b.giving.state != givingOver }

func (b *base) beginGiving(to entity.ID, method string) {
	b.giving = &giving{to: to, method: method, until: b.app.now + giveTime}
	b.backupSoon()
}

// copySent and copyHeld note that a copy was made which knows of the giving, and that others hold it.
func (g *giving) copySent(number uint64) {
	if g != nil && g.number == 0 {
		g.number = number
	}
}

func (g *giving) copyHeld(number uint64) {
	if g != nil && g.number != 0 && g.number <= number {
		g.number = kept
	}
}

// tickGiving is the tick of a base that gives its client away, or has done so.
func (b *base) tickGiving() {
	a, g := b.app, b.giving
	if b.gone != nil && a.now >= b.gone.until {
		b.gone = nil
	}
	switch {
	case g == nil || b.removed:
	case g.err != nil:
		b.keepClient(g.err)
	case g.state == givingOver: // in the life before
		b.keepClient(errSessionEnded)
	case a.now >= g.until:
		b.keepClient(entity.ErrTimeout)
	case g.state == givingWanted && b.seat != nil && (g.number == kept || !b.protected()):
		b.sendGive()
	}
}

var errSessionEnded = fmt.Errorf("%w: its session has ended", entity.ErrNotGiven)

// sendGive sends the seat to the taker.
func (b *base) sendGive() {
	g := b.giving
	m := flow.Give{Account: b.account, Origin: b.origin, Turn: b.turn + 1, Data: b.loginData, Seat: b.seat.append(nil)}
	if err := b.sayTo(g.to, m.Append(nil)); err != nil {
		g.err = fmt.Errorf("%w: %w", entity.ErrNotGiven, err)
		return
	}
	g.state = givingSent
}

// sayTo says something to the base of another entity.
func (b *base) sayTo(id entity.ID, payload []byte) error {
	t, err := b.reach(id, entity.BasePart)
	if err != nil {
		return err
	}
	return t.say(payload)
}

// sayTurn tells another base in which turn an account is, or why it was not taken in that turn.
func (b *base) sayTurn(to entity.ID, account string, turn uint32, reason string) error {
	m := flow.Taken{Account: account, Turn: turn, Reason: reason[:min(len(reason), limits.ErrorText)]}
	return b.sayTo(to, m.Append(nil))
}

// keepClient ends a giving without a taker. The client goes on here, if it is there still.
func (b *base) keepClient(why error) {
	g := b.giving
	b.giving = nil
	if g.state == givingSent {
		b.takeBack(g.to, errors.Is(why, entity.ErrTimeout))
	}
	b.backupSoon()
	b.log.Info("client not given away", "account", b.account, "to", g.to.String(), "why", why)
	if c := b.client(); c != nil && c.missed {
		c.missed = false
		c.abort() // it says again what was not heard
		c.lostBy(errUnheard, errUnheard.Error())
	}
	b.tellGiven(g.method, entity.ClientGiven{To: g.to, Err: why})
}

var errUnheard = fmt.Errorf("baseapp: it said something while it was about to be given away: %w", mercury.ErrNoChannel)

// takeBack is ahead of a taker that may take the client yet. It is told, unless it will ask by its Taken.
func (b *base) takeBack(taker entity.ID, tell bool) {
	b.turn += 2
	if b.account == "" {
		return
	}
	b.tellAccount()
	if tell {
		if err := b.sayTurn(taker, b.account, b.turn, ""); err != nil {
			b.app.refused("a taker that cannot be told that the client stays", "entity", b.id, "taker", taker, "error", err)
		}
	}
}

// endGiving is called when the session ends while its client is given away. The script hears of it later.
func (b *base) endGiving() {
	g := b.giving
	if !b.gives() {
		return
	}
	if g.state == givingSent {
		b.takeBack(g.to, true)
	}
	g.state, g.err = givingOver, errSessionEnded
}

// giveFailed notes that nobody will answer the newest Give to a base.
func (b *base) giveFailed(to entity.ID, body []byte, why error) {
	var m flow.Give
	if g := b.giving; m.Parse(body) == nil && g != nil && g.state == givingSent && g.to == to && m.Turn == b.turn+1 {
		g.err = fmt.Errorf("%w: %w", entity.ErrNotGiven, why)
	}
}

// takeGive takes a client of a base on another app, or says why not.
func (b *base) takeGive(from entity.ID, body []byte) error {
	var m flow.Give
	if err := m.Parse(body); err != nil {
		return err
	}
	a := b.app
	o := a.accounts[m.Account]
	var err error
	switch why := b.whyNotTake(); {
	case o != nil && o.origin == m.Origin && o.turn >= m.Turn: // by this base in most cases, from another life of the giver
		return b.sayTurn(from, m.Account, o.turn, "")
	case b.gone != nil && b.gone.account == m.Account && b.gone.turn >= m.Turn:
		return b.sayTurn(from, m.Account, b.gone.turn, "")
	case why != "":
		err = errors.New(why)
	default:
		err = b.takeSeat(from, &m)
	}
	if err == nil {
		b.log.Info("client taken", "account", b.account, "from", from.String())
		return b.sayTurn(from, m.Account, m.Turn, "")
	}
	return b.sayTurn(from, m.Account, m.Turn, err.Error())
}

// Reasons why an app takes no client of another one.
var (
	errSessionsEnd  = errors.New("sessions end with their channels on its BaseApp (Config.ResumeTime)")
	errStopping     = errors.New("the world is being stopped")
	errAccountTaken = errors.New("the account has another proxy on its BaseApp")
	errAccountsFull = fmt.Errorf("there are %d accounts on its BaseApp", MaxProxies)
)

func (a *BaseApp) mayTake(m *flow.Give) error {
	o := a.accounts[m.Account]
	switch {
	case !a.resumable():
		return errSessionsEnd
	case a.paused:
		return errStopping
	case a.loggingIn[m.Account], o != nil && o.origin != m.Origin:
		return errAccountTaken
	case o == nil && len(a.accounts)+len(a.loggingIn) >= MaxProxies:
		return errAccountsFull
	}
	return nil
}

// takeSeat makes the seat of a Give the base's own. If the giver is on this app by now, its seat is
// taken itself.
func (b *base) takeSeat(from entity.ID, m *flow.Give) error {
	a := b.app
	if err := a.mayTake(m); err != nil {
		return err
	}
	if o := a.accounts[m.Account]; o != nil && o.seat != nil {
		g := o.giving
		o.giving = nil
		o.give(b)
		b.turn = max(b.turn, m.Turn)
		if g != nil {
			o.tellGiven(g.method, entity.ClientGiven{To: b.id})
		}
		return nil
	}
	s := &seat{base: b, restored: true, lost: "it was given to another entity"}
	r := codec.NewReader(m.Seat)
	s.read(&r)
	if err := r.Close(); err != nil {
		return err
	}
	s.enabled, s.given, s.from = false, true, from
	b.seat = s
	if err := b.awaitClient(); err != nil {
		b.seat = nil
		return err
	}
	if o := a.accounts[m.Account]; o != nil {
		o.handedOn(b.id)
	}
	b.loginData = slices.Clone(m.Data)
	b.own(m.Account, m.Origin, m.Turn)
	b.beginSession()
	s.forgetCell() // what the client has of the giver's cell part is nothing of this one's
	s.add(protocol.BaseStream, protocol.AppendResetEntities(a.buf[:0]))
	b.backupSoon()
	return nil
}

// takeTaken takes the word of another base that it has the account, or does not take it.
func (b *base) takeTaken(from entity.ID, body []byte) error {
	var m flow.Taken
	if err := m.Parse(body); err != nil {
		return err
	}
	g := b.giving
	given := g != nil && g.to == from && (b.account == m.Account || b.account == "")
	switch {
	case m.Reason != "":
		if given && g.state == givingSent && m.Turn == b.turn+1 {
			b.keepClient(fmt.Errorf("%w to %v: %s", entity.ErrNotGiven, from, m.Reason))
		}
	case given && m.Turn > b.turn:
		b.yield(from)
	case b.account != m.Account:
	case m.Turn < b.turn:
		return b.sayTurn(from, b.account, b.turn, "")
	case m.Turn > b.turn && b.seat != nil && b.seat.given && b.seat.from == from:
		b.yield(from)
	case m.Turn > b.turn:
		return fmt.Errorf("entity %v has account %q, says one that it was not given to", from, m.Account)
	}
	return nil
}

// takeOutdone takes the word of the BaseAppMgr that an account is another base's by now. That is no
// more than the word of the other's app, and an account that was never given away can be nobody
// else's.
func (a *BaseApp) takeOutdone(_ sender, m *wire.Outdone) {
	b := a.accounts[m.Account]
	if b == nil || b.id == m.ID || b.origin != m.Origin || b.turn >= m.Turn {
		return
	}
	if b.turn == 0 && b.giving == nil {
		a.refused("a base that claims an account which was never given away", "account", m.Account, "entity", m.ID)
		return
	}
	b.log.Warn("the account is another base's", "account", m.Account, "entity", m.ID, "turn", m.Turn, "turn here", b.turn)
	b.yield(m.ID)
}

// yield leaves the account and the client to another base, and sends the client there. Scripts hear
// of it last.
func (b *base) yield(to entity.ID) {
	a, g, s := b.app, b.giving, b.seat
	had := b.shown() || g != nil
	b.giving = nil
	b.forgetToken()
	b.handedOn(to)
	if s != nil {
		b.unseat()
		a.sendOn(s, to)
	}
	b.setCellClient()
	b.backupSoon()
	b.log.Info("client given away", "to", to.String())
	if had {
		b.tellGivenAway()
	}
	if g != nil {
		b.tellGiven(g.method, entity.ClientGiven{To: to})
	}
}

// gone is a client that was given away: to whom, and with which account. It is carried, so that the
// next life of the giver sends on who comes to it, and does not take what it had.
type gone struct {
	account string
	turn    uint32 // in which it was this base's
	to      entity.ID
	tokens  [2]protocol.Token
	until   time.Duration
}

func (x *gone) code(c *codec.Coder) {
	c.String(&x.account, maxAccount)
	codec.Uint32(c, &x.turn)
	fields.ID(c, &x.to)
	c.Array(x.tokens[0][:])
	c.Array(x.tokens[1][:])
}

// handedOn notes that the account is another base's now, and the client with it.
func (b *base) handedOn(to entity.ID) {
	a := b.app
	x := &gone{account: b.account, turn: b.turn, to: to, until: a.now + a.awayTime()}
	if s := b.seat; s != nil {
		x.tokens = [2]protocol.Token{s.token, s.former}
	}
	if b.account != "" {
		delete(a.accounts, b.account)
		if a.byID[to] == nil {
			a.moving.noteAccount(b.account, a.now)
		}
		b.account, b.gone = "", x
	}
}

// codeGiving codes what a copy tells of clients that are given away.
func (b *base) codeGiving(c *codec.Coder) {
	has := [2]bool{b.giving != nil, b.gone != nil}
	c.Bool(&has[0])
	c.Bool(&has[1])
	if has[0] {
		if b.giving == nil {
			b.giving = &giving{until: b.app.now + giveTime}
		}
		b.giving.code(c)
	}
	if has[1] {
		if b.gone == nil {
			b.gone = &gone{until: b.app.now + b.app.awayTime()}
		}
		b.gone.code(c)
	}
}

// reviveGiving sends on, in the next life of a giver, who comes to it.
func (b *base) reviveGiving() {
	if x := b.gone; x != nil {
		b.app.noteSentOn(x.tokens, x.to)
	}
}

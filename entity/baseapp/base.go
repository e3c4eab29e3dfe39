package baseapp

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Errors of creating a base.
var (
	// ErrNoScript is returned for a type without a registered script.
	ErrNoScript = errors.New("baseapp: the type has no script")
	// ErrNotJoined is returned before the first Welcome, and after the app was dismissed.
	ErrNotJoined = errors.New("baseapp: the app has no place in the cluster")
	// ErrScript is returned when the script panicked.
	ErrScript = errors.New("baseapp: the script panicked")
)

// base is one base: its script, its cell link and, for a proxy, its client. It is the
// entity.Base's host of its script.
type base struct {
	app *BaseApp
	id  entity.ID

	// What each tick, and each message to or from the client, looks at is together: a base that is
	// cold costs a cache miss for each line of its memory that is touched.
	removed    bool
	destroying bool
	fragment   bool // of a service; see service.go
	aside      bool // removed, since it goes on elsewhere (move.go) or in its next life (restart.go)
	failed     bool // the script panicked and is no longer called
	gotCell    bool // OnGetCell was called
	// asked is true while a BackupNow is under way.
	asked   bool
	seat    *seat  // of its client; nil without one
	session uint32 // of the present client, or of the last one
	// shownTo is the incarnation that the client was shown in a past that has not been: none before goes on.
	shownTo uint32
	// told is the latest incarnation whose Reset the client was sent, so it has forgotten older
	// ones.
	told uint32
	// seekUntil is until when it asks after those who owe it answers (seek.go); 0 for not.
	seekUntil time.Duration
	// sharedHeard is the last change of what the cluster shares that the script was told.
	sharedHeard uint64
	room        uint32  // how many bytes of an unreliable message the client's channel takes
	rate        uint32  // how many bytes a second its path carries, as the cell part was told; 0 for no limit
	giving      *giving // nil unless the client is on its way to another app
	gone        *gone   // the last client that was given away; nil if nobody asks for it any more
	// creation is nil unless a cell part is asked for with a callback.
	creation *creation
	commits  []commit
	names    []ownName // in the order in which it asked for them
	// attachBy is when a proxy that waits for its client is given up; 0 means never.
	attachBy time.Duration
	newcomer newcomer
	made     unanswered
	// heardAt is when the base last heard of its real; probeAt is when it may ask again.
	heardAt, probeAt      time.Duration
	unsaved, unsavedBytes int // messages handled that no copy contains
	// heard is the app that the cell part's last message came from. Acks go there when nobody knows
	// where the real is.
	heard      mercury.Address
	link       cellLink
	cellFaults faults       // panics of the cell part
	ownFaults  faults       // and of the base
	message    flow.Culprit // the one being handled
	passing    bool         // it is passed over
	timers     script.Timers
	owed       script.Owed
	requests   script.Requests
	keep       keeping

	kind  *script.Type
	value reflect.Value // of the script, a *T
	props *property.Values
	log   *slog.Logger
	// talks are the flows with other parts than the own cell part, by id and part.
	talks []*talk
	// former is what the last cell part had handled that was destroyed, formerAt when that was heard.
	former   flow.Gone
	formerAt time.Duration
	// spent is the highest number of a flow that was forgotten.
	spent  uint64
	nested int    // own calls within one another
	saving uint64 // the copy that is on its way to those who hold it; see saved
	// savingAt is when that copy was made, copiedAt when the newest confirmed one was.
	savingAt, copiedAt time.Duration
	// holders are the apps that had the real, newest first; see holds.
	holders [3]mercury.Address
	// heardBy is how long the next cell part waits for copies of what the former one has said; 0
	// while none waits.
	heardBy time.Duration
	// hastyAt is when it last did not wait until the end; 0 for never.
	hastyAt time.Duration

	account   string
	origin    entity.ID      // names the login, see give.go
	turn      uint32         // how often the account was handed on until it came here
	loginData []byte         // what the Auth said
	token     protocol.Token // of the login
	// sessions is the number of the last session, or a higher one if the base may have had others since
	// the copy that it was read from.
	sessions uint32

	// teleports have not ended; teleported is the number of the last one, or that before the first
	// of this life.
	teleports  []teleport
	teleported uint64
	creations  uint64 // the number of the last one

	handling entity.Call
	copied   copied
	stub     *stub // what is left of it once it has ended, until nobody can bring it back; see stub.go
	pending  []pending
	seal     seal   // makes the titles of its cell parts
	wishes   []wish // of the cell part, oldest first
}

// create makes a base and calls its script's OnCreated.
func (a *BaseApp) create(d *property.Definition, init func(*property.Values), prepare func(*base)) (*base, error) {
	props := property.NewValues(d, property.BaseSide, nil)
	if init != nil {
		init(props)
	}
	return a.createWith(d, props, prepare)
}

// createWith is create for a base whose first values are made.
func (a *BaseApp) createWith(d *property.Definition, props *property.Values, prepare func(*base)) (*base, error) {
	if a.ids == nil || a.dismissed {
		return nil, ErrNotJoined
	}
	id, err := a.ids.Next()
	if err != nil {
		return nil, err
	}
	return a.createAs(id, d, props, prepare)
}

// createAs is createWith for a base whose id was drawn before.
func (a *BaseApp) createAs(id entity.ID, d *property.Definition, props *property.Values, prepare func(*base)) (*base, error) {
	kind := a.cfg.Scripts.bases.Of(d)
	switch {
	case kind == nil:
		return nil, fmt.Errorf("%w: %s", ErrNoScript, d.Name)
	case len(a.byID) >= MaxBases:
		return nil, fmt.Errorf("%w: %d bases", entity.ErrTooMany, MaxBases)
	}
	b := a.blank(id, d, props)
	b.seal = a.sealing.of(id)
	if prepare != nil {
		prepare(b)
	}
	a.add(b)
	if b.traced() {
		b.step("base created", "account", b.account)
	}
	b.guard("constructor", func() { b.value = kind.New(entity.NewBase(b, id, b.props, b.log), b.props) })
	callHook(b, "OnCreated", func(s Creator) { s.OnCreated() })
	if b.failed {
		return nil, ErrScript
	}
	return b, nil
}

// blank makes a base without a script, of which the app knows nothing yet.
func (a *BaseApp) blank(id entity.ID, d *property.Definition, props *property.Values) *base {
	b := &base{app: a, id: id, kind: a.cfg.Scripts.bases.Of(d), props: props, log: a.log.With("entity", id.String(), "type", d.Name)}
	b.props.SetHolder(b)
	b.keep.typ = a.keeps(d)
	b.sharedHeard = a.shared.Last()
	return b
}

// add takes a base into the app. Its own ones come in order; one that is restored has another's id.
func (a *BaseApp) add(b *base) {
	a.byID[b.id] = b
	i := len(a.list)
	for i > 0 && a.list[i-1].id > b.id {
		i--
	}
	a.list = slices.Insert(a.list, i, b)
	a.protect(b)
}

// callHook calls a method that the script may have.
func callHook[H any](b *base, name string, f func(H)) {
	if b.failed || b.ended() {
		return
	}
	if h, ok := b.value.Interface().(H); ok {
		b.guard(name, func() { f(h) })
	}
}

// guard runs the script and contains its panic: the base goes on from its newest copy, or ends; see
// restart.go. Nothing is run while a message is passed over.
func (b *base) guard(what string, f func()) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		invariant.Pass(r)
		b.app.report.Errors++
		b.log.Error("the script panicked", "in", what, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		b.panicked()
	}()
	if !b.passing {
		f()
	}
}

// call calls a base method. It returns an error if the method was not called, or if the script
// panicked. asked is zero if no answer is wanted.
func (b *base) call(index int, asked script.Asked, source entity.ID, args []byte) (results script.Results, err error) {
	if b.failed || b.ended() {
		return results, entity.ErrNoPart
	}
	d, err := b.kind.Method(index)
	if err != nil {
		return results, err
	}
	former := b.owed.Begin(asked)
	err = errPanicked
	b.guard(d.Name, func() { results, err = b.kind.Call(&b.app.parameters, b.value, index, source, args) })
	results.End(&b.owed, former, err)
	return results, err
}

// unlessPanicked is err, but nil for a panic, which was logged and is nobody else's fault.
func unlessPanicked(err error) error {
	if errors.Is(err, errPanicked) {
		return nil
	}
	return err
}

// errPanicked is of a call whose method panicked, which was logged.
var errPanicked = fmt.Errorf("%w: the script panicked", entity.ErrRefused)

// tick does what is due for one base.
func (b *base) tick() {
	if !b.app.paused {
		b.tickLogin()
	}
	if !b.app.frozen && !b.destroying {
		if b.sharedHeard < b.app.shared.Last() {
			b.hearShared()
		}
		b.timers.Run(b.app.game, b.runTimer)
		b.timeOut()
		b.tickSeek()
		b.runCommits()
		b.tellStored()
	}
	b.tickNames()
	b.tickParting()
	b.tickClient()
	b.tickCell()
	b.tickGiving()
}

// Destroy is part of entity.Base's host.
func (b *base) Destroy() {
	if b.destroying {
		return
	}
	b.destroying = true
	b.timers.Clear()
	b.forgetToken()
	b.endMade()
	if b.seat != nil {
		b.seat.refuse(protocol.Destroyed)
		b.endSeat(protocol.Destroyed, "")
	}
	if !b.awaitLast() {
		b.endLink()
	}
}

// endLink ends the cell part of a base that is destroyed, and then the base.
func (b *base) endLink() {
	switch tell, err := b.link.Leave(b.app.now); {
	case tell:
		b.sendDestroy()
	case err == nil || b.link.State() == linkNone:
		b.settleLink()
		b.remove()
	}
}

// remove takes the base out of the app, and tells its script last. One that the store keeps has its
// last write first.
func (b *base) remove() {
	if b.removed {
		return
	}
	if !b.keep.ending {
		callHook(b, "OnDestroy", func(s Destroyer) { s.OnDestroy() })
		b.failOwed()
	}
	if b.keepLast() {
		return
	}
	b.sayLast()
	b.traceEnd()
	b.removed = true
	held := b.app.unprotect(b)
	b.partTalks()
	b.app.swept = false
	delete(b.app.byID, b.id)
	if !held || !b.app.leaveStub(b) {
		b.giveUp()
	}
}

// giveUp frees what only one base may have.
func (b *base) giveUp() {
	b.giveUpNames()
	if b.account != "" {
		delete(b.app.accounts, b.account)
		b.app.baseMgr.Send(&wire.ProxyGone{Account: b.account, ID: b.id})
	}
	b.endWait(protocol.Destroyed)
}

// PropertyChanged is part of property.Holder. The client is sent the change at once, and so is the cell
// part if it is exposed for replay.
func (b *base) PropertyChanged(c *property.Change) {
	p := b.props.Definition().Properties[c.Index]
	if p.ExposedForReplay {
		b.expose(c)
	}
	if !b.shown() || b.aside || p.Flags&property.OwnClient == 0 || p.ClientIndex < 0 { // the type as clients know it may lack this property
		return
	}
	if msg, ok := protocol.AppendOwnValue(b.app.buf[:0], b.props, c); ok {
		b.app.stats.Add(b.props.Definition(), c.Index, property.ToOwnClient, len(msg))
		b.tell(msg)
		return
	}
	msg, mark := protocol.Begin(b.app.buf[:0], protocol.BasePropertyID)
	start := len(msg)
	msg = protocol.AppendChange(msg, b.props, c)
	b.app.stats.Add(b.props.Definition(), c.Index, property.ToOwnClient, len(msg)-start)
	b.tell(protocol.End(msg, mark))
}

// ClientSession is part of entity.Base's host.
func (b *base) ClientSession() uint32 {
	if b.seat == nil {
		return 0
	}
	return b.session
}

// ClientAccount is part of entity.Base's host.
func (b *base) ClientAccount() string { return b.account }

// LoginData is part of entity.Base's host.
func (b *base) LoginData() []byte { return b.loginData }

// AddTimer is part of entity.Base's host.
func (b *base) AddTimer(after, every time.Duration, method string, user int64) (entity.CallbackID, error) {
	if b.destroying {
		return 0, entity.ErrGone
	}
	if err := script.CheckCallback[entity.Callback](b.kind, method); err != nil {
		return 0, err
	}
	return b.timers.Add(b.app.game, after, every, method, user)
}

// Cancel is part of entity.Base's host.
func (b *base) Cancel(id entity.CallbackID) bool { return b.timers.Cancel(id) }

// Handling is part of entity.Base's host.
func (b *base) Handling() entity.Call { return b.handling }

func (b *base) runTimer(method string, c entity.Callback) { callBack(b, method, c) }

// callBack calls a callback of the script by its name.
func callBack[A any](b *base, method string, a A) {
	var err error
	b.guard(method, func() { err = script.CallBack(b.kind, b.value, method, a) })
	if err != nil {
		b.app.report.Errors++
		b.log.Error("no method of this name for a callback", "error", err)
	}
}

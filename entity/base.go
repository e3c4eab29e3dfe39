package entity

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// baseHost is the app that holds a base, with what the methods of Base need from it.
type baseHost interface {
	caller
	Answerer
	CreateCell(space SpaceID, position, direction property.Vector3, init func(*property.Values)) error
	CreateCellAt(info CellInfo, method string, user int64) error
	DestroyCell() error
	TeleportCell(to Destination, method string, user int64) error
	CreateSpace(info SpaceInfo, method string, user int64) error
	DestroySpace(id SpaceID) error
	baseMaker
	ChangeSpaceData(space SpaceID, d SpaceDatum) error
	Shared() shared.Data
	NewDataID() (DataID, error)
	Backup(method string, user int64) error
	SetAutoBackup(on bool)
	Destroy()
	AddTimer(after, every time.Duration, method string, user int64) (CallbackID, error)
	Cancel(id CallbackID) bool
	Handling() Call
	Mailbox(m property.Mailbox) Mailbox
	Lookup(id ID, typeName string, kind MailboxKind) Mailbox
	clientHost
	downloadHost
	storeHost
}

// baseMaker is how a baseHost makes bases elsewhere and names them.
type baseMaker interface {
	App() mercury.Address
	CreateBase(info BaseInfo, method string, user int64) error
	RegisterName(name, method string, user int64) error
	UnregisterName(name string) bool
	LookupName(name, method string, user int64) error
}

// Base is the base part of an entity for its script. The script type embeds a *Base, which the app
// fills in when it creates the base.
//
//	type Account struct {
//		*entity.Base
//		Gold property.Int32
//	}
//
// Call its methods on the goroutine of the app, from the script's own callbacks. After the base is
// destroyed they do nothing, or return ErrGone or ErrNoPart.
type Base struct {
	host  baseHost
	id    ID
	props *property.Values
	log   *slog.Logger
}

// NewBase is for the app that holds the base. props are the values of the base part.
func NewBase(host baseHost, id ID, props *property.Values, log *slog.Logger) *Base {
	return &Base{host: host, id: id, props: props, log: log}
}

// ID is the entity's id.
func (b *Base) ID() ID { return b.id }

// Def is the entity's type.
func (b *Base) Def() *property.Definition { return b.props.Definition() }

// Props are the properties of the base part. Scripts use bound fields instead.
func (b *Base) Props() *property.Values { return b.props }

// Log is the app's log, with the entity's name.
func (b *Base) Log() *slog.Logger { return b.log }

// Cell is the mailbox of the cell part. A call is kept until a backup of the cell part contains it,
// so it survives the death of a CellApp. Calls fail with ErrNoPart while there is no cell part and
// none is being created.
func (b *Base) Cell() Mailbox { return Mailbox{ID: b.id, Kind: CellMailbox, Def: b.Def(), Via: b.host} }

// Mailbox makes a stored mailbox callable, from a property, an argument or a result. Calls come from
// this base. A mailbox of a type that the definitions do not have reaches nobody.
func (b *Base) Mailbox(m property.Mailbox) Mailbox { return b.host.Mailbox(m) }

// Lookup is the mailbox of an entity whose id and type are known. A type that the definitions do not
// have makes one that reaches nobody.
func (b *Base) Lookup(id ID, typeName string, kind MailboxKind) Mailbox {
	return b.host.Lookup(id, typeName, kind)
}

// CreateCell creates the cell part in a space. position is in metres, direction is yaw, pitch and
// roll in radians. init, if not nil, sets properties of the cell part before it exists anywhere.
// CreateCell returns at once, and calls may follow immediately. If there is no such space, or it
// ends before the cell part exists, OnLoseCell is called; the same if the space has as
// many entities as it takes (SpaceInfo.MaxEntities). Errors are ErrHasPart, ErrNoPart for a
// type without a cell part or a destroyed base, and those of arguments that make no sense.
func (b *Base) CreateCell(space SpaceID, position, direction property.Vector3, init func(*property.Values)) error {
	if space == 0 {
		return fmt.Errorf("entity: create cell of %v: 0 is not a space", b.id)
	}
	if !property.Finite(position) || !property.Finite(direction) {
		return fmt.Errorf("entity: create cell of %v at %v: %w", b.id, position, errNotFinite)
	}
	return b.host.CreateCell(space, position, direction, init)
}

// CreateCellAt is CreateCell with an answer: in a space, or near an entity, wherever that is. It
// returns at once. Later the script's method of that name, a func (T) OnX(CellReply), is called
// once, right after OnGetCell or with the reason why there is no cell part. Then all is as it was
// before: OnLoseCell is not called, and the script may try again. user comes back in the reply.
//
// With Near the other entity is asked where it is, and the cell part is made there, even if that
// entity has moved on or ended by then. Calls of Cell fail with ErrNoPart until it has answered. An
// entity that has ended is answered for at once, other ways to fail take up to half a minute.
// Errors are those of CreateCell, ErrNoCallback, and ErrFull.
func (b *Base) CreateCellAt(info CellInfo, method string, user int64) error {
	if err := info.Check(); err != nil {
		return err
	}
	return b.host.CreateCellAt(info, method, user)
}

// DestroyCell destroys the cell part. It returns at once, and calls to the cell then fail with
// ErrNoPart. When the cell part is gone, OnLoseCell is called, and a new one can be created. There
// is no OnLoseCell for a cell part that has not come to life yet, that is, had no OnGetCell.
func (b *Base) DestroyCell() error { return b.host.DestroyCell() }

// TeleportCell takes the cell part to another place, as its own script does with
// space.Real.Teleport: that script is asked first and hears how it went. Space 0 is the one that it
// is in then. It returns at once. Later the base script's method of that name, a func (T)
// OnX(TeleportReply), is called, once. Both scripts get the same user: the base script in the
// reply, the cell script in OnTeleport, and in OnTeleported or OnTeleportFailed. Only of a request
// that comes while another teleport is under way the cell script hears nothing: the reply says so, as
// placement.Vetoed. Errors are ErrNoCallback, ErrNoPart without a cell part, ErrTooMany, and that of
// a place that makes no sense.
func (b *Base) TeleportCell(to Destination, method string, user int64) error {
	if err := to.Check(); err != nil {
		return err
	}
	return b.host.TeleportCell(to, method, user)
}

// CreateSpace asks for a new space, such as a room or a dungeon for one party. It returns at once.
// Later the script's method of that name, a func (T) OnX(SpaceReply), is called with the space's
// id, or with the reason why there is none; it may call CreateCell. user comes back in the reply.
// Errors are ErrNoCallback, ErrGone, ErrTooMany if the app has too many open requests, and
// ErrArguments for data that a space cannot begin with.
//
// The space ends when DestroySpace is called, or some seconds after its last entity has left it. A
// space that has had no entity yet stays until its BaseApp dies, unless its KeepFor says how long it
// waits: without that, destroy one that you no longer need.
func (b *Base) CreateSpace(info SpaceInfo, method string, user int64) error {
	return b.host.CreateSpace(info, method, user)
}

// DestroySpace ends a space that game code created, with every entity in it. OnDestroy is called on
// their cell scripts, and OnLoseCell on their base scripts. It returns at once. The request is
// repeated until the CellAppMgr has it, whatever happens to this base. To destroy a space twice
// does no harm. A space of the cluster's configuration stays.
func (b *Base) DestroySpace(id SpaceID) error {
	if id == 0 {
		return fmt.Errorf("entity: destroy space by %v: 0 is not a space", b.id)
	}
	return b.host.DestroySpace(id)
}

// Shared is what the whole cluster shares, as this BaseApp knows it.
func (b *Base) Shared() shared.Data { return b.host.Shared() }

// App is the BaseApp that the base is on.
func (b *Base) App() mercury.Address { return b.host.App() }

// CreateBase asks for a new base, here or on another BaseApp. It returns at once. Later the
// script's method of that name, a func (T) OnX(BaseReply), is called with the base's mailbox, or
// with the reason why there is none. user comes back in the reply. The request is repeated until it
// is answered, and makes one base; while the chosen BaseApp is away, there is no answer. If that
// dies before it has answered, the reason is ErrTimeout: the base may have been made and go on
// elsewhere, so give one of which there must not be two a name (RegisterName, or its Identifier).
// If this base ends first, the new one lives on. Errors are ErrNoCallback, ErrGone, ErrTooMany, and
// that of a type which has no base.
func (b *Base) CreateBase(info BaseInfo, method string, user int64) error {
	return b.host.CreateBase(info, method, user)
}

// RegisterName gives the base a name that no other base of the cluster has, by which others find
// it: "auction", "guild of thieves". It returns at once. Later the script's method of that name, a
// func (T) OnX(NameReply), is told whether the base has the name now, or who else has it; user
// comes back in the reply. The name is free again when the base ends, or by UnregisterName. A base
// that has the name already is told so, and one whose name turns out to be another one's hears
// OnNameLost (baseapp.NameLoser). Errors are ErrNoCallback, ErrGone, ErrTooMany beyond
// limits.BaseNames or too many open requests, and that of a name that is empty or longer than
// limits.BaseName.
func (b *Base) RegisterName(name, method string, user int64) error {
	return b.host.RegisterName(name, method, user)
}

// UnregisterName gives a name up, and reports whether the base had it or was waiting for it. Others
// can have it once a copy of the base without the name is where the death of this BaseApp does not
// reach it: within a tick or two, as for Backup.
func (b *Base) UnregisterName(name string) bool { return b.host.UnregisterName(name) }

// LookupName asks which base has a name. It returns at once. Later the script's method of that
// name, a func (T) OnX(NameReply), is told; ErrNoEntity in it means that nobody has the name. user
// comes back in the reply. A name that was registered before is found, also while managers restart:
// the answer then takes longer. Errors are those of RegisterName.
func (b *Base) LookupName(name, method string, user int64) error {
	return b.host.LookupName(name, method, user)
}

// Backup has the base copied to other BaseApps with the next tick, and calls the script's method of that
// name, a func (T) OnX(Callback), once they have the copy: from then on the death of this BaseApp does not
// undo what the script had done before it called Backup. That is the commit point of a trade: set the goods
// aside, back up, and hand them over in the callback. The callback's ID is 0. Without a call bases are copied
// once in a backup period.
//
// A base that is restored from such a copy gets the callback, also if the former one got it already: so what
// it does must be the same when it is done again. Where no other BaseApp holds copies, there is nothing to
// wait for, and the callback comes with the next tick. If others would hold one, and the base is too large
// or nobody has room, Callback.Err says so. Errors are ErrNoCallback, ErrGone and ErrTooMany.
func (b *Base) Backup(method string, user int64) error { return b.host.Backup(method, user) }

// SetAutoBackup says whether other BaseApps hold copies of the base, as they do at first. Without them it
// costs nothing to back up, and dies with its BaseApp: its cell part and its client's session end, and its
// names and its row in the store are free. For two backup periods after a copy was made the base may come
// back as it was then. Nobody waits for a copy of it, so Backup calls its method with the next tick. When its
// BaseApp retires, or bases are moved to even out the load, it moves like all others. What is said here lasts
// until it is said otherwise, also on another BaseApp.
//
// It suits what the game can make anew, such as the spawner of a herd; not players.
func (b *Base) SetAutoBackup(on bool) { b.host.SetAutoBackup(on) }

// Destroy destroys the entity: it drops the client, then destroys the cell part, then the base. A method
// that calls it has handled its call, and what it returns is the answer; calls that come later, or that
// Later has kept, are answered with ErrNoEntity.
func (b *Base) Destroy() { b.host.Destroy() }

// AddTimer calls the script's method of that name, a func (T) OnX(Callback), once the time after
// has passed, and then at intervals of every if that is above zero. Times are game time, rounded up
// to ticks. The timer dies with the base. Errors are ErrNoCallback, ErrTooMany beyond limits.Timers,
// ErrGone, and that of a negative time.
func (b *Base) AddTimer(after, every time.Duration, method string, user int64) (CallbackID, error) {
	return b.host.AddTimer(after, every, method, user)
}

// Cancel ends a timer without a callback, and reports whether there was one.
func (b *Base) Cancel(id CallbackID) bool { return b.host.Cancel(id) }

// Later makes the method that is being handled answer later: what it returns then does not count, unless
// it is an error, and the call is answered by Answer or Fail, from any callback of this script. The token
// names the call. It is 0 if no answer is wanted; to answer 0 does nothing. Called again in the same call,
// Later gives the same token. It is good for the base in all its lives and on every app, also in a backup
// or after a move, until the call is answered, or the time that the caller gave it (Mailbox.Within) is
// over. When the base ends, the calls that it has not answered fail with ErrNoEntity. Errors are ErrNoCall
// outside of a method, and ErrFull beyond limits.OwedAnswers.
//
//	func (g *Guild) Join(name string) (rank int32, err error) {
//		token, err := g.Later()
//		if err != nil {
//			return 0, err
//		}
//		return 0, g.leader().Then("OnVote", int64(token)).Call("vote", name)
//	}
//
//	func (g *Guild) OnVote(r entity.Reply) { _ = g.Answer(entity.AnswerToken(r.User), int32(1)) }
func (b *Base) Later() (AnswerToken, error) { return b.host.Later() }

// Answer answers a call that Later has kept, with the results of its method, as Go values like those of
// Mailbox.Call. Errors are ErrAnswered if the call does not wait any more, ErrArguments for results that
// do not fit, ErrFull if too much waits to be sent to the caller, and ErrGone. After ErrArguments and
// ErrFull the call still waits.
func (b *Base) Answer(token AnswerToken, results ...any) error {
	return b.host.Answer(token, results...)
}

// Fail answers a call that Later has kept, with an error: a *GameError, or the text of any other. Errors
// are those of Answer.
func (b *Base) Fail(token AnswerToken, err error) error { return b.host.Fail(token, err) }

// Call describes the call that the script is handling. It is zero outside of a call, and for a call
// that is never repeated.
//
// A restored cell part handles again what its backup does not contain, and so may call its base
// again. A base that must not pay twice, for example, keeps the highest Number that it has paid
// for, and pays only for higher ones.
func (b *Base) Call() Call { return b.host.Handling() }

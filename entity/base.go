package entity

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/property"
)

// BaseHost is the app that holds a base, as that base sees it: what the methods of Base ask for.
type BaseHost interface {
	Caller
	CreateCell(space SpaceID, position, direction property.Vector3, init func(*property.Values)) error
	DestroyCell() error
	CreateSpace(info SpaceInfo, method string) (request uint64, err error)
	DestroySpace(id SpaceID) error
	Destroy()
	AddTimer(after, every time.Duration, method string, user int64) (CallbackID, error)
	Cancel(id CallbackID) bool
	Handling() Call
	ClientHost
	DownloadHost
}

// Base is the base part of an entity as its script sees it: the script type
// embeds a *Base, and the app that creates the base fills it in.
//
//	type Account struct {
//		*entity.Base
//		Gold property.Int32
//	}
//
// Its methods are called on the goroutine of the app, from the script's own
// callbacks. After the base is destroyed they do nothing, or return ErrGone or ErrNoPart.
type Base struct {
	host  BaseHost
	id    ID
	props *property.Values
	log   *slog.Logger
}

// NewBase is for the app that holds the base. props are the values of its base side.
func NewBase(host BaseHost, id ID, props *property.Values, log *slog.Logger) *Base {
	return &Base{host: host, id: id, props: props, log: log}
}

// ID is the entity's id.
func (b *Base) ID() ID { return b.id }

// Def is the entity's type.
func (b *Base) Def() *property.Definition { return b.props.Definition() }

// Props are the properties of the base side. Scripts use bound fields instead.
func (b *Base) Props() *property.Values { return b.props }

// Log is the app's log with the entity named.
func (b *Base) Log() *slog.Logger { return b.log }

// Cell is the mailbox of the cell part. A call is kept until a backup of the cell
// part contains it, so it survives the death of a CellApp; calls fail with
// ErrNoPart while there is no cell part and none is being created.
func (b *Base) Cell() Mailbox { return Mailbox{b.id, CellPart, b.Def(), b.host} }

// CreateCell creates the cell part in a space. position is in metres, direction is
// yaw, pitch and roll in radians. init, if not nil, gives properties of the cell
// part values before it exists anywhere. It returns at once; calls may follow
// immediately. If there is no such space, or it ends before the cell part is there,
// the script hears OnLoseCell. Errors are ErrHasPart, ErrNoPart for a type without cell part or a
// destroyed base, and those of arguments that make no sense.
func (b *Base) CreateCell(space SpaceID, position, direction property.Vector3, init func(*property.Values)) error {
	if space == 0 {
		return fmt.Errorf("entity: create cell of %v: space 0 is no space", b.id)
	}
	if !Finite(position) || !Finite(direction) {
		return fmt.Errorf("entity: create cell of %v at %v: %w", b.id, position, errNotFinite)
	}
	return b.host.CreateCell(space, position, direction, init)
}

// DestroyCell destroys the cell part. It returns at once, after which calls to the
// cell fail with ErrNoPart; a new cell part can be created when it is gone, which
// the script hears by OnLoseCell. One that has not come to life yet, of which there was no
// OnGetCell, is given up without a word.
func (b *Base) DestroyCell() error { return b.host.DestroyCell() }

// CreateSpace asks for a new space, such as a room or a dungeon of its own for a
// party. It returns at once; the script's method of that name, a func (T) OnX(SpaceReply), is
// called with the space's id, or with why there is none. CreateCell may follow in it. The request
// that is returned tells replies apart. Errors are ErrNoCallback, ErrGone, and ErrTooMany of an app
// with too many requests open.
//
// The space ends when DestroySpace is called, or some seconds after its last entity
// has left it. Until it has had one it waits, unless the BaseApp dies that asked for
// it; so a script that needs it no more destroys it.
func (b *Base) CreateSpace(info SpaceInfo, method string) (request uint64, err error) {
	return b.host.CreateSpace(info, method)
}

// DestroySpace ends a space that game code created, with every entity in it: their
// scripts hear OnDestroy on the cell, and OnLoseCell on the base. It returns at once,
// and is asked for until the CellAppMgr has heard, whatever becomes of this base. A
// space that has ended may be destroyed again; one of the cluster's configuration stays.
func (b *Base) DestroySpace(id SpaceID) error {
	if id == 0 {
		return fmt.Errorf("entity: destroy space by %v: space 0 is no space", b.id)
	}
	return b.host.DestroySpace(id)
}

// Destroy destroys the entity: its client is dropped, its cell part is destroyed,
// then the base.
func (b *Base) Destroy() { b.host.Destroy() }

// AddTimer calls the script's method of that name, a func (T) OnX(Callback), once after a while,
// and then again and again if every is above zero. Times are game time, rounded up to ticks. The
// timer dies with the base. Errors are ErrNoCallback, ErrTooMany beyond MaxTimers, ErrGone, and that
// of a negative time.
func (b *Base) AddTimer(after, every time.Duration, method string, user int64) (CallbackID, error) {
	return b.host.AddTimer(after, every, method, user)
}

// Cancel ends a timer without a callback; it reports whether there was one.
func (b *Base) Cancel(id CallbackID) bool { return b.host.Cancel(id) }

// Call names the call that the script handles; see Call. Its zero value is no call,
// or one that nothing makes again.
//
// A cell part that is restored handles again what its backup does not contain, and
// calls its base again. A base that must not, say, pay twice keeps the highest Number
// that it has paid for, and pays nothing for one that is not above it.
func (b *Base) Call() Call { return b.host.Handling() }

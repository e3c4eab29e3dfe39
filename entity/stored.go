package entity

import (
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/property"
)

// Stood is where the cell part of an entity was, when the store heard of it last.
type Stood struct {
	Space     SpaceID
	Position  property.Vector3 // in metres
	Direction property.Vector3 // yaw, pitch and roll in radians
}

// storeHost is what the methods of Base below need from the app that holds it.
type storeHost interface {
	Write(method string, user int64) error
	SetAutoArchive(on bool)
	Row() uint64
	Stood() (Stood, bool)
	LoadBase(what stored.Key, method string, user int64) error
	QueryStore(q stored.Query, method string, user int64) error
	DestroyRow() error
}

// Write has the store keep the entity as it is now: the persistent properties of the base part, and
// those of the cell part, which is asked for its newest ones first. Each row has both as they were
// at one moment: what the base has heard from its cell part by then is in that part, too. Later the
// script's method of that name, a func (T) OnX(stored.Reply), is called, once: without an error the
// store has it, and no crash undoes it. A cell part that does not answer within some seconds is
// written as it was last known, and Err says so. The first Write makes the entity's row. Without a
// call a base is written once in an archive period, and when it ends. Errors are ErrNoCallback,
// ErrGone, stored.ErrNotKept and ErrTooMany.
func (b *Base) Write(method string, user int64) error { return b.host.Write(method, user) }

// SetAutoArchive says whether an entity that the store keeps is written once in an archive period,
// as it is at first. Without it the store has what the last Write wrote, until the base ends or the
// world is stopped in order: both write. What is said here lasts as long as the base, also on
// another BaseApp.
func (b *Base) SetAutoArchive(on bool) { b.host.SetAutoArchive(on) }

// Row is the entity's database id, by which it can be loaded for ever; 0 while it has none, because it was
// not written yet, or is not kept.
func (b *Base) Row() uint64 { return b.host.Row() }

// Stood is where the cell part was when the entity was last written or backed up: where to make it again
// after a load. It reports false for an entity that had none.
func (b *Base) Stood() (Stood, bool) { return b.host.Stood() }

// LoadBase asks for the base of an entity that the store keeps. It is made on this BaseApp, with
// the properties that were written. CreateCell then begins with those of the cell part. Later the
// script's method of that name, a func (T) OnX(BaseReply), is called with its mailbox, or with a
// *stored.Error that says why there is none: nobody has that name (stored.Missing), or it lives
// already (stored.Held). Of one that lives the reply has the error and, if this start of the cluster
// has loaded it, its mailbox: such as that of a character which has stayed in the world without its
// client. It takes some seconds, because most that live are about to end. user comes back in the
// reply.
// Errors are ErrNoCallback, ErrGone, stored.ErrNotKept and ErrTooMany.
func (b *Base) LoadBase(what stored.Key, method string, user int64) error {
	return b.host.LoadBase(what, method, user)
}

// DestroyRow destroys the entity as Destroy does, and then removes it from the store: nothing will load it
// again. Errors are stored.ErrNotKept, and ErrGone for one that is destroyed already: its last write stands.
func (b *Base) DestroyRow() error { return b.host.DestroyRow() }

// QueryStore asks for a page of what the store keeps of a type, such as the ten highest of a ladder
// or the characters of an account. It returns at once. Later the script's method of that name, a
// func (T) OnX(stored.Page), is called, also on another BaseApp if the base has moved: then, and
// when the store cannot answer, with an Err that says so, and the script may ask again. user comes
// back in the page. Errors are ErrNoCallback, ErrGone, stored.ErrNotKept and ErrTooMany, and that
// of a query that makes no sense.
func (b *Base) QueryStore(q stored.Query, method string, user int64) error {
	return b.host.QueryStore(q, method, user)
}

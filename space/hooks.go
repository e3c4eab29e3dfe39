package space

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/property"
)

// These are the hooks of cell scripts: a script may have any of their methods. Each is called on
// the goroutine of the CellApp, never in the middle of a walk over the cell's lists.
type (
	// Creator is told that the real was made for the first time.
	Creator interface{ OnCreated() }

	// Restorer is told that the real came back from its backup.
	Restorer interface{ OnRestored() }

	// Leaver is told that the real is about to go to another cell; its changes travel along.
	Leaver interface{ OnLeavingCell() }

	// Quitter is told that the real has left: what is here now is a ghost. Methods of Real do
	// nothing any more, and the handles keep what the real had.
	Quitter interface{ OnLeftCell() }

	// Arriver is told that the real is arriving from another cell, before ghosts and clients see it
	// there; it may change its state.
	Arriver interface{ OnEnteringCell() }

	// Enterer is told that the real has arrived on another cell.
	Enterer interface{ OnEnteredCell() }

	// ClientWatcher is told that the player's client came or went.
	ClientWatcher interface{ OnClient(attached bool) }

	// WitnessWatcher is told that clients see the entity now, or that none has for a while; see
	// Real.IsWitnessed. What nobody sees may think less.
	WitnessWatcher interface{ OnWitnessed(watched bool) }

	// DataWatcher is told of each change of the space's data while the real lives, in order, at the
	// beginning of the next tick. What the space had before, it can read.
	DataWatcher interface {
		OnSpaceData(change entity.SpaceDatum)
	}

	// CallRefuser is told that its client's call to another entity was refused or given up. Nobody
	// has handled it, and nobody will: a call in whose method the target ended is not told. Only if a
	// CellApp or BaseApp has died may the target have handled it all the same: its own word died with
	// it, or the caller was restored and made the call again.
	CallRefuser interface{ OnCallRefused(call RefusedCall) }

	// MoveChecker is asked whether the entity may go where its client says that it has gone, such as
	// through a wall: the game knows the geometry. It is asked of each move within the top speed,
	// some ten times a second, and answers where the entity goes instead, or to itself; false is to
	// nowhere. An answer other than the move puts the client there, too.
	MoveChecker interface {
		OnMoving(from, to property.Vector3) (at property.Vector3, ok bool)
	}

	// Passenger is told that it is off its vehicle, where it was then: the vehicle was destroyed or has not
	// come after it, or it was put or has walked too far away. It is not told of its own Real.Alight or of a
	// teleport.
	Passenger interface{ OnAlighted(vehicle entity.ID) }

	// Teleporter is told that the real is about to be teleported; see Real.Teleport. It may change
	// where to, destroy the real, or return an error: then the real stays, and OnTeleportFailed is
	// called.
	Teleporter interface {
		OnTeleport(to *entity.Destination, user int64) error
	}

	// Teleportee is told, where it has arrived, that the real was teleported.
	Teleportee interface{ OnTeleported(user int64) }

	// Stayer is told that a teleport has failed, and why. The real is where it was before.
	Stayer interface {
		OnTeleportFailed(user int64, reason *placement.TeleportError)
	}

	// SpaceLeaver is told that the space has ended. It may teleport the real out of it; the cell
	// waits for the end of that. Without a teleport, or if that fails, the real is destroyed.
	SpaceLeaver interface{ OnSpaceEnd() }

	// Destroyer is told that the real is about to be destroyed.
	Destroyer interface{ OnDestroy() }
)

func hooks() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[Creator](), reflect.TypeFor[Restorer](), reflect.TypeFor[Leaver](), reflect.TypeFor[Quitter](),
		reflect.TypeFor[Arriver](), reflect.TypeFor[Enterer](),
		reflect.TypeFor[ClientWatcher](), reflect.TypeFor[WitnessWatcher](), reflect.TypeFor[DataWatcher](), reflect.TypeFor[shared.Watcher](), reflect.TypeFor[CallRefuser](), reflect.TypeFor[MoveChecker](), reflect.TypeFor[Passenger](),
		reflect.TypeFor[Teleporter](), reflect.TypeFor[Teleportee](), reflect.TypeFor[Stayer](), reflect.TypeFor[SpaceLeaver](), reflect.TypeFor[Destroyer](),
	}
}

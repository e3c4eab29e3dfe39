package baseapp

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/property"
)

// These are the hooks of base scripts: a script may have any of their methods. Each is called on
// the goroutine of the BaseApp.
type (
	// Creator is told that its base was created. Fields are bound and properties have their first
	// values; this is the place to call CreateCell.
	Creator interface{ OnCreated() }

	// Restorer is told that its base was brought back from a copy that is up to a backup period old: on
	// another app, since its own has died, or on the same, since the script has panicked. What others
	// have sent since then comes again, and what the script did of itself is undone.
	Restorer interface{ OnRestored() }

	// LogOnDecider is asked what becomes of a login to its account, in the place of Config.Relogin. HasClient
	// tells whether there is a client that would have to go. The script may also destroy the base.
	LogOnDecider interface{ OnLogOnAttempt() Relogin }

	// ClientEnabler is told that a client is ready and has been sent the base part. From here on
	// Client() works, and the client is shown the world. It is told so of each client that comes,
	// also of one that takes the place of another.
	ClientEnabler interface{ OnEntitiesEnabled() }

	// ClientDeathHandler is told that the client is gone, and why; reason is for people:
	//
	//	protocol.LoggedOut       the player left: by Logout, or by closing the connection properly
	//	protocol.ConnectionLost  the connection was lost and did not come back within Config.ResumeTime
	//	protocol.Kicked          by entity.Base.Kick, with that reason
	//	protocol.Replaced        another client has logged in
	//	protocol.GivenAway       by entity.Base.GiveClientTo; the entity lives on
	//	protocol.Malformed       the client broke the protocol
	//	protocol.Flooding        the client sent more than Config.Upload allows
	//	protocol.TooSlow         the client did not take what it was sent
	//
	// A loss from which the client comes back is not told. Afterwards the entity is destroyed, unless
	// another client is on its way or the script is a Keeper. It is not called when the script destroys
	// the entity itself.
	ClientDeathHandler interface {
		OnClientDeath(code protocol.Code, reason string)
	}

	// Keeper may keep the entity when its client is gone for good. It then lives until the script destroys
	// it; a login to its account gives it its next client.
	Keeper interface{ KeepWithoutClient() bool }

	// CellGetter is told that the cell part has come to life. It is not called again when a cell
	// part is restored.
	CellGetter interface{ OnGetCell() }

	// CellLoser is told that the cell part is gone for good, or that it cannot be made because its
	// space has ended.
	CellLoser interface{ OnLoseCell() }

	// Rehomer is asked where to make the cell part if its space has ended before that could be made,
	// or restored: the place must be in another space. If it says false, the cell part is gone.
	Rehomer interface {
		OnNoSpace(ended entity.SpaceID) (to entity.Destination, ok bool)
	}

	// Returner is told, after OnCreated, that the base comes back because the world starts anew
	// (cluster.Config.BringBack), or is loaded by Starter.Ensure, and decides what becomes of its cell
	// part: entity.Base.Stood says where it was. Without this hook the cell part is made there, unless
	// OnCreated has made one.
	Returner interface{ OnBroughtBack() }

	// NameLoser is told that a name which its base had by entity.Base.RegisterName is another
	// base's, whose mailbox it is given. That can only happen when all managers have started anew
	// while a BaseApp was away. A base that Starter.Ensure has made with the name then ends.
	NameLoser interface {
		OnNameLost(name string, holder property.Mailbox)
	}

	// Destroyer is told that its base is being removed. The cell part is gone by then.
	Destroyer interface{ OnDestroy() }
)

func hooks() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[Creator](), reflect.TypeFor[Restorer](), reflect.TypeFor[LogOnDecider](), reflect.TypeFor[ClientEnabler](), reflect.TypeFor[ClientDeathHandler](), reflect.TypeFor[Keeper](),
		reflect.TypeFor[CellGetter](), reflect.TypeFor[CellLoser](), reflect.TypeFor[Rehomer](), reflect.TypeFor[Returner](), reflect.TypeFor[NameLoser](), reflect.TypeFor[shared.Watcher](), reflect.TypeFor[Destroyer](),
	}
}

// foreignHooks returns the names of hooks that only cell scripts have.
func foreignHooks() []string {
	return []string{"OnLeavingCell", "OnLeftCell", "OnEnteringCell", "OnEnteredCell", "OnClient", "OnWitnessed", "OnSpaceData", "OnCallRefused", "OnMoving", "OnAlighted",
		"OnTeleport", "OnTeleported", "OnTeleportFailed", "OnSpaceEnd"}
}

package baseapp

import (
	"reflect"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// A script may have any of the methods of these interfaces. Each is called on the goroutine of the
// BaseApp.
type (
	// Creator hears that its base was created: fields are bound, properties have
	// their first values. The place to call CreateCell.
	Creator interface{ OnCreated() }

	// ClientEnabler hears that a client was attached and has been sent the base
	// part: from here on Client() works.
	ClientEnabler interface{ OnEntitiesEnabled() }

	// ClientDeathHandler hears that the client is gone. code is protocol.LoggedOut,
	// Malformed or Flooding, or 0 if the connection ended; reason is for people.
	// Afterwards the entity is destroyed, unless the script is a Keeper. It is not
	// called when the script destroys the entity itself.
	ClientDeathHandler interface {
		OnClientDeath(code protocol.Code, reason string)
	}

	// Keeper may keep the entity when its client is gone. The account stays logged
	// in, until the script destroys the entity.
	Keeper interface{ KeepWithoutClient() bool }

	// CellGetter hears that the cell part has come to life. A restored cell part is
	// still the same one.
	CellGetter interface{ OnGetCell() }

	// CellLoser hears that the cell part it got is gone for good; or that the one it is
	// to get cannot be, since its space has ended.
	CellLoser interface{ OnLoseCell() }

	// Destroyer hears that its base is being removed; the cell part is gone.
	Destroyer interface{ OnDestroy() }
)

func hooks() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[Creator](), reflect.TypeFor[ClientEnabler](), reflect.TypeFor[ClientDeathHandler](), reflect.TypeFor[Keeper](),
		reflect.TypeFor[CellGetter](), reflect.TypeFor[CellLoser](), reflect.TypeFor[Destroyer](),
	}
}

// foreignHooks are the names of what is called on cell scripts alone.
func foreignHooks() []string {
	return []string{"OnRestored", "OnLeavingCell", "OnEnteredCell", "OnClient", "OnCallRefused"}
}

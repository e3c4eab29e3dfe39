package space

import "reflect"

// A script may have any of the methods of these interfaces. Each is called on the goroutine of the
// CellApp, never in the middle of a walk over the cell's lists.
type (
	// Creator hears that the real was made for the first time.
	Creator interface{ OnCreated() }

	// Restorer hears that the real came back from its backup.
	Restorer interface{ OnRestored() }

	// Leaver hears that the real is about to go to another cell; what it changes travels along.
	Leaver interface{ OnLeavingCell() }

	// Enterer hears that the real has arrived on another cell.
	Enterer interface{ OnEnteredCell() }

	// ClientWatcher hears that the player's client came or went.
	ClientWatcher interface{ OnClient(attached bool) }

	// CallRefuser hears that a call of the own client to another entity was refused, or given up:
	// nobody has handled it, nor will.
	CallRefuser interface{ OnCallRefused(call RefusedCall) }

	// Destroyer hears that the real is about to be destroyed.
	Destroyer interface{ OnDestroy() }
)

func hooks() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[Creator](), reflect.TypeFor[Restorer](), reflect.TypeFor[Leaver](), reflect.TypeFor[Enterer](),
		reflect.TypeFor[ClientWatcher](), reflect.TypeFor[CallRefuser](), reflect.TypeFor[Destroyer](),
	}
}

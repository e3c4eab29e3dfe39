package property

import "github.com/cellscape/cellscape/internal/enum"

import "strings"

// Flags says who holds a property and who sees it. Facts of the dialect: seed S4 §6.1.6.3.
type Flags uint16

// The bits. A property without OnBase and EditorOnly lives on the cell's real.
const (
	Ghosted     Flags = 1 << iota // ghosts hold it too
	OtherClient                   // clients of other players see it
	OwnClient                     // the entity's own client sees it; alone it is the flag OWN_CLIENT
	OnBase                        // lives on the base, not on the cell
	EditorOnly                    // for tools: no process holds it
)

// The combinations that a definition may state.
const (
	CellPrivate      Flags = 0
	CellPublic             = Ghosted
	OtherClients           = Ghosted | OtherClient
	CellPublicAndOwn       = Ghosted | OwnClient
	AllClients             = Ghosted | OtherClient | OwnClient
	Base                   = OnBase
	BaseAndClient          = OnBase | OwnClient
)

// flagNames lists the legal flags: first the name of each in a .def file, then the synonyms.
var flagNames = []struct {
	name  string
	flags Flags
}{
	{"CELL_PRIVATE", CellPrivate},
	{"CELL_PUBLIC", CellPublic},
	{"OTHER_CLIENTS", OtherClients},
	{"OWN_CLIENT", OwnClient},
	{"CELL_PUBLIC_AND_OWN", CellPublicAndOwn},
	{"ALL_CLIENTS", AllClients},
	{"BASE", Base},
	{"BASE_AND_CLIENT", BaseAndClient},
	{"EDITOR_ONLY", EditorOnly},
	{"PRIVATE", CellPrivate},
	{"ALL_CLIENT", AllClients},
	{"OTHER_CLIENT", OtherClients},
}

// ParseFlags returns the flags of a name in a .def file; PRIVATE, ALL_CLIENT and OTHER_CLIENT are
// accepted as synonyms.
func ParseFlags(name string) (Flags, bool) {
	for _, f := range flagNames {
		if f.name == name {
			return f.flags, true
		}
	}
	return 0, false
}

// Valid reports whether f is one of the combinations that a definition may state.
func (f Flags) Valid() bool { return f.String() != "" }

// String returns the name in a .def file, or "" for a combination without one.
func (f Flags) String() string {
	for _, n := range flagNames {
		if n.flags == f {
			return n.name
		}
	}
	return ""
}

func flagList() string {
	var names []string
	for _, n := range flagNames[:9] {
		names = append(names, n.name)
	}
	return strings.Join(names, ", ")
}

// Side is a part of an entity that holds values.
type Side uint8

// The sides.
const (
	CellSide        Side = iota // the real on its cell: everything but base properties
	BaseSide                    // the base
	OwnClientSide               // the entity's own client: what it sees of cell and base
	OtherClientSide             // another player's client
	GhostSide                   // a ghost on another cell
	ReplaySide                  // a recording that is played back: what another player's client sees, and what is exposed for replay
	sides
)

// String returns the side's name.
func (s Side) String() string {
	return enum.Name(s, "side", []string{
		CellSide:        "cell",
		BaseSide:        "base",
		OwnClientSide:   "own client",
		OtherClientSide: "other client",
		GhostSide:       "ghost",
		ReplaySide:      "replay",
	})
}

// has reports whether a side holds a property. A recording that is played back holds what is not in
// it, too, as the default, so that the scripts of clients find all that they are bound to.
func (s Side) has(p *Property) bool {
	if s == ReplaySide {
		return p.Flags&EditorOnly == 0 && p.ExposedForReplay || OtherClientSide.has(p)
	}
	return s.holds(p.Flags) && (p.ClientIndex >= 0 || !s.isClient())
}

// holds reports whether a side holds a property with flags f. ReplaySide does not go by them alone.
func (s Side) holds(f Flags) bool {
	if f&EditorOnly != 0 {
		return false
	}
	switch s {
	case CellSide:
		return f&OnBase == 0
	case BaseSide:
		return f&OnBase != 0
	case OwnClientSide:
		return f&OwnClient != 0
	case OtherClientSide:
		return f&OtherClient != 0
	case GhostSide:
		return f&Ghosted != 0
	}
	return false
}

func (s Side) isClient() bool { return s == OwnClientSide || s == OtherClientSide }

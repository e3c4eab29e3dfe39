package property

// Definition describes an entity type, or a service. The exported fields are filled by Load or by
// hand; [NewSchema] checks them and makes the copy that a [Schema] holds, which never changes.
type Definition struct {
	Name     string
	ID       uint16 // position in Schema.Types, or for a service behind them in Schema.Services; assigned by NewSchema
	ClientID uint16 // position among the types that clients know, or NoClientID; assigned by NewSchema
	// ClientName is the type as which clients see this one, "" for itself. Clients then have the
	// ClientID, the properties and the methods of that type; what this one has besides stays on the
	// servers. In a tree it is a Parent; in Go any type whose client-visible members this one has
	// too, in the same order.
	ClientName string

	Properties    []*Property
	CellMethods   []*Method
	BaseMethods   []*Method // of a service: its methods
	ClientMethods []*Method
	Components    []Component   // whose members are among the properties and methods, as "component.name"
	Levels        []DetailLevel // nearest first
	Volatile      Volatile
	AppealRadius  float32 // metres by which large entities are seen, and mirrored, from further away
	UpdateScheme  UpdateScheme

	HasCell, HasBase, HasClient bool

	Persistent         bool // entities of the type are kept by the store
	ExplicitDatabaseID bool // the creator chooses the database id, not the store
	DetailedVolatile   bool // position and direction are always sent at full precision
	ManualAoI          bool // enters areas of interest only when a script says so
	Service            bool // no entity type but a service: methods that any process may call, without entities

	// TempProperties are names that scripts use for state of their own, which a move to another
	// process loses: the fields that a Go script tags `cellscape:"local"`.
	TempProperties []string
	Compression    Compression

	Dialect Dialect // of the tree that it comes from
	Kept    []Kept

	statesPersistent bool // Persistent is not only what a tree means by saying nothing

	where    position
	parents  []string // in a tree: its Parent, the Parent's Parent and so on
	compiled bool
	byName   map[string]*Property
	cell     map[string]*Method
	base     map[string]*Method
	client   map[string]*Method
	// What a client can name, by the indices it knows. nil where a type that appears as another
	// lacks nothing but clients cannot reach it.
	clientProps              []*Property
	exposedCell, exposedBase []*Method
	streams                  [domains][]int
	slots                    [sides][]int16 // by property index: where a Values of that side keeps it, or -1
	held                     [sides][]int   // by slot: the property's index
	levels                   [][]int        // by level: the OtherClient properties of that level, without the lossy ones
	lossy                    []int          // the OtherClient properties that are Unreliable
	internal, external       Packing
}

// Component is a bundle of properties and methods that a type has under a name of its own. They
// stream, ghost and change like the type's own; in lists they are called "component.name".
type Component struct {
	Name string `json:"name"`
	Type string `json:"type"` // name of its definition
}

// Kept is an element of a definition that has no meaning on a server. It is kept for tools.
type Kept struct {
	// Element is the path within what it belongs to, such as Widget or
	// VariableLengthHeaderSize/WarnLevel.
	Element string `json:"element"`
	Text    string `json:"text,omitempty"` // its text, or if it has children its XML
}

// NoClientID is the ClientID of a type that no client knows.
const NoClientID = 0xffff

// Property returns the named property, or nil.
func (d *Definition) Property(name string) *Property { return d.byName[name] }

// CellMethod returns the named method of the cell, or nil.
func (d *Definition) CellMethod(name string) *Method { return d.cell[name] }

// BaseMethod returns the named method of the base or of the service, or nil.
func (d *Definition) BaseMethod(name string) *Method { return d.base[name] }

// ClientMethod returns the named method of the client, or nil.
func (d *Definition) ClientMethod(name string) *Method { return d.client[name] }

// Stream returns the indices of the properties that travel in a stream, ascending. Do not change
// it. The streams to clients of a type without client side are empty; those of a type with a
// ClientName carry what that type has.
func (d *Definition) Stream(dom Stream) []int {
	if dom >= domains {
		return nil
	}
	return d.streams[dom]
}

// AtLevel returns the indices of the properties that other clients see at exactly this detail
// level and are told of reliably, ascending. Do not change it.
func (d *Definition) AtLevel(level int) []int {
	if level < 0 || level >= len(d.levels) {
		return nil
	}
	return d.levels[level]
}

// Lossy returns the indices of the properties that other clients see, at whatever level, and whose
// changes may be lost on the way to them ([Property].Unreliable), ascending. Do not change it.
func (d *Definition) Lossy() []int { return d.lossy }

// Held returns the indices of the properties that a side holds, ascending. Do not change it.
func (d *Definition) Held(side Side) []int {
	if side >= sides {
		return nil
	}
	return d.held[side]
}

// slot returns where a Values of the side keeps property i, or -1.
func (d *Definition) slot(side Side, i int) int {
	if side >= sides || i < 0 || i >= len(d.slots[side]) {
		return -1
	}
	return int(d.slots[side][i])
}

// ReadValue takes a value of property i off the front of b. Errors are ErrIndex and those of
// [DataType.Read].
func (d *Definition) ReadValue(b []byte, i int) (v Value, rest []byte, err error) {
	if i < 0 || i >= len(d.Properties) {
		return Value{}, b, ErrIndex
	}
	return d.Properties[i].Type.Read(b)
}

// ByClientIndex returns the property of a ClientIndex, or nil: indices arrive from clients and may
// be anything.
func (d *Definition) ByClientIndex(i int) *Property { return at(d.clientProps, i) }

// ByFixedIndex returns the property of a size and a FixedIndex, or nil.
func (d *Definition) ByFixedIndex(size, i int) *Property {
	for _, p := range d.clientProps {
		if size > 0 && p.FixedIndex == i && p.Type.WireSize() == size {
			return p
		}
	}
	return nil
}

// ExposedCellMethod returns the cell method of an ExposedIndex, or nil.
func (d *Definition) ExposedCellMethod(i int) *Method { return at(d.exposedCell, i) }

// ExposedBaseMethod returns the base method of an ExposedIndex, or nil.
func (d *Definition) ExposedBaseMethod(i int) *Method { return at(d.exposedBase, i) }

func at[T any](list []*T, i int) *T {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

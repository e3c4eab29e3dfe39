package property

// Property is a property of an entity type.
type Property struct {
	Index       int // position among all properties of the type; assigned by NewSchema
	ClientIndex int // position among those that clients see, or -1; assigned by NewSchema
	Name        string
	Type        *DataType
	Flags       Flags
	Default     Value // None means the default of Type; after NewSchema it always fits
	// Detail is the label of the detail level within which other clients receive the property; "" means everywhere.
	Detail string
	Level  int // index of that level, 0 nearest; len(Levels) without label; assigned by NewSchema

	Persistent     bool // kept by the store
	Identifier     bool // entities are looked up by it; implies Indexed and Unique
	Indexed        bool
	Unique         bool
	DatabaseLength int  // column size, 0 for the store's default
	SendLatestOnly bool // of the changes not sent yet only the newest is kept
	Unreliable     bool // a change may be lost on its way to clients

	ExposedForReplay bool // recordings show it although no other client sees it
	WarnBytes        int  // a change larger than this, as it travels, is counted as oversize; 0 for no limit

	where position
}

// ClientVisible reports whether any client sees the property.
func (p *Property) ClientVisible() bool { return p.Flags&(OwnClient|OtherClient) != 0 }

// Definition describes an entity type. The exported fields are filled by Load or by hand; [NewSchema] checks them and
// makes the copy that a [Schema] holds, which never changes.
type Definition struct {
	Name     string
	ID       uint16 // position in the Schema; assigned by NewSchema
	ClientID uint16 // position among the types that have a client side, or NoClientID; assigned by NewSchema

	Properties    []*Property
	CellMethods   []*Method
	BaseMethods   []*Method
	ClientMethods []*Method
	Levels        []DetailLevel // nearest first
	Volatile      Volatile
	AppealRadius  float32 // metres by which large entities are seen, and mirrored, from further away

	HasCell, HasBase, HasClient bool

	Persistent       bool // entities of the type are kept by the store
	DetailedVolatile bool // position and direction are always sent at full precision
	ManualAoI        bool // enters areas of interest only when a script says so

	where    position
	compiled bool
	byName   map[string]*Property
	cell     map[string]*Method
	base     map[string]*Method
	client   map[string]*Method
	// What a client can name, by the indices it knows.
	clientProps              []*Property
	exposedCell, exposedBase []*Method
	streams                  [domains][]int
	slots                    [sides][]int16 // by property index: where a Values of that side keeps it, or -1
	held                     [sides][]int   // by slot: the property's index
	levels                   [][]int        // by level: the OtherClient properties of that level
}

// NoClientID is the ClientID of a type that no client knows.
const NoClientID = 0xffff

// Property returns the named property, or nil.
func (d *Definition) Property(name string) *Property { return d.byName[name] }

// CellMethod returns the named method of the cell, or nil.
func (d *Definition) CellMethod(name string) *Method { return d.cell[name] }

// BaseMethod returns the named method of the base, or nil.
func (d *Definition) BaseMethod(name string) *Method { return d.base[name] }

// ClientMethod returns the named method of the client, or nil.
func (d *Definition) ClientMethod(name string) *Method { return d.client[name] }

// Stream returns the indices of the properties that travel in a stream, ascending. Do not change it. The streams to
// clients of a type without client side are empty.
func (d *Definition) Stream(dom Domain) []int {
	if dom >= domains {
		return nil
	}
	return d.streams[dom]
}

// AtLevel returns the indices of the properties that other clients see at exactly this detail level, ascending. Do not
// change it.
func (d *Definition) AtLevel(level int) []int {
	if level < 0 || level >= len(d.levels) {
		return nil
	}
	return d.levels[level]
}

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

// ReadValue takes a value of property i off the front of b. Errors are ErrIndex and those of [DataType.Read].
func (d *Definition) ReadValue(b []byte, i int) (v Value, rest []byte, err error) {
	if i < 0 || i >= len(d.Properties) {
		return Value{}, b, ErrIndex
	}
	return d.Properties[i].Type.Read(b)
}

// ByClientIndex returns the property of a ClientIndex, or nil: indices arrive from clients and may be anything.
func (d *Definition) ByClientIndex(i int) *Property { return at(d.clientProps, i) }

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

// compile fills what is derived from the exported fields. It runs once, on the Schema's own copy.
func (d *Definition) compile() {
	d.byName = make(map[string]*Property, len(d.Properties))
	d.levels = make([][]int, len(d.Levels)+1)
	for s := range sides {
		d.slots[s] = make([]int16, len(d.Properties))
	}
	for i, p := range d.Properties {
		p.Index, p.ClientIndex = i, -1
		d.byName[p.Name] = p
		if p.ClientVisible() && d.HasClient {
			p.ClientIndex = len(d.clientProps)
			d.clientProps = append(d.clientProps, p)
		}
		for dom := range domains {
			if dom.takes(p) && (d.HasClient || !dom.toClient()) {
				d.streams[dom] = append(d.streams[dom], i)
			}
		}
		for s := range sides {
			d.slots[s][i] = -1
			if s.holds(p.Flags) && (d.HasClient || !s.isClient()) {
				d.slots[s][i] = int16(len(d.held[s]))
				d.held[s] = append(d.held[s], i)
			}
		}
		if OtherClientStream.takes(p) && d.HasClient {
			d.levels[p.Level] = append(d.levels[p.Level], i)
		}
	}
	d.cell, d.exposedCell = compileMethods(d.CellMethods, d.HasClient)
	d.base, d.exposedBase = compileMethods(d.BaseMethods, d.HasClient)
	d.client, _ = compileMethods(d.ClientMethods, false)
	d.compiled = true
}

func compileMethods(methods []*Method, hasClient bool) (byName map[string]*Method, exposed []*Method) {
	byName = make(map[string]*Method, len(methods))
	for i, m := range methods {
		m.Index, m.ExposedIndex = i, -1
		if m.Exposed != NotExposed && hasClient {
			m.ExposedIndex = len(exposed)
			exposed = append(exposed, m)
		}
		byName[m.Name] = m
	}
	return byName, exposed
}

package property

// Property is a property of an entity type.
type Property struct {
	Index       int // position among all properties of the type; assigned by NewSchema
	ClientIndex int // position among those that clients see, those of fixed size first; or -1; assigned by NewSchema
	// FixedIndex is its position among those that clients see whose values all take as many bytes as those
	// of this one; or -1, if clients do not see it or values vary in length; assigned by NewSchema.
	FixedIndex int
	Name       string
	Component  string // the component that it belongs to, whose name and a dot begin Name; "" for the type itself
	Type       *DataType
	Flags      Flags
	Default    Value // None means the default of Type; after NewSchema it always fits
	// Detail is the label of the detail level within which other clients receive the property; ""
	// means everywhere.
	Detail string
	Level  int // index of that level, 0 nearest; len(Levels) without label; assigned by NewSchema

	Persistent     bool // kept by the store
	Identifier     bool // entities are looked up by it; implies Indexed and Unique
	Indexed        bool
	Unique         bool
	DatabaseLength int // longest value of a column, in characters of a UNICODE_STRING, else in bytes; 0 for the store's default
	// SendLatestOnly sends a change of a part as the whole value. Other clients are told of whole values
	// only the newest in any case: one that has changed twice since they were told last comes once.
	SendLatestOnly bool
	// Unreliable is for what changes several times a second, if other clients see it: a change is told
	// them in a packet that may be lost, and is not told again. The newest value wins. When the property
	// has rested, the value is told reliably, once. The own client and ghosts are told each change.
	Unreliable bool
	// ExposedForReplay puts the property into recordings. What other clients see has it, unless a
	// .def file says otherwise.
	ExposedForReplay bool
	WarnBytes        int  // a change of more bytes is worth a warning; 0 for none
	Editable         bool // a world editor may set it; for tools only

	Kept []Kept

	where position
}

// ClientVisible reports whether the flags let any client see the property. Whether clients know it
// is told by ClientIndex: a type without client side, or one with a ClientName, may hide it.
func (p *Property) ClientVisible() bool { return p.Flags&(OwnClient|OtherClient) != 0 }

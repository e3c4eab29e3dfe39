package presence

// Aspect is how an entity shows itself to the clients of others, apart from its properties and its
// place. Its real decides it, and its ghosts have it too.
type Aspect uint8

// These may be combined.
const (
	// Withheld entities are shown to no client but their own.
	Withheld Aspect = 1 << iota
	// AlwaysDetailed entities are told exactly and in full detail to whoever sees them, however far
	// away.
	AlwaysDetailed

	aspects
)

// Valid reports whether a has only what is known here.
func (a Aspect) Valid() bool { return a < aspects }

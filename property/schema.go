package property

// Schema is the entity types of a game. It never changes once made, and any number of goroutines
// may read it.
type Schema struct {
	Types    []*Definition // by ID
	Services []*Definition // by ID, which go on from those of Types; they have no entities
	Aliases  []Alias       // names for data types that the tree declares, in its order
	Dialect  Dialect       // of the tree; DialectNone for what is described in Go
	// ClientDigest is of what clients can see or call. It is what a client's schema must agree on;
	// an edit that concerns servers only leaves it as it is.
	ClientDigest [16]byte
	// Digest is of everything. The processes of a cluster must agree on it.
	Digest [16]byte
	// Notices are oddities of an imported tree that are not faults: what was read differently from
	// what the tree says, and what nothing acts on yet.
	Notices Faults
	// MissingTypes are the USER_TYPEs that lack a codec, in a Schema of [Options].Survey; else
	// none.
	MissingTypes []MissingType

	byName   map[string]*Definition
	services map[string]*Definition
	byClient []*Definition
}

// Alias is a name for a data type.
type Alias struct {
	Name string
	Type *DataType
	Kept []Kept
}

// Type returns the named entity type, or nil.
func (s *Schema) Type(name string) *Definition { return s.byName[name] }

// Service returns the named service, or nil.
func (s *Schema) Service(name string) *Definition { return s.services[name] }

// Called returns the type or service of an ID, or nil: whom a call is for.
func (s *Schema) Called(id uint16) *Definition {
	if i := int(id) - len(s.Types); i >= 0 && i < len(s.Services) {
		return s.Services[i]
	}
	return s.ByID(id)
}

// ByID returns the type of an ID, or nil.
func (s *Schema) ByID(id uint16) *Definition {
	if int(id) >= len(s.Types) {
		return nil
	}
	return s.Types[id]
}

// ByClientID returns the type of a ClientID, or nil. Of types that share it, it is the one as which
// clients see them.
func (s *Schema) ByClientID(id uint16) *Definition {
	if int(id) >= len(s.byClient) {
		return nil
	}
	return s.byClient[id]
}

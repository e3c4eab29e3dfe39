package stored

import (
	"slices"

	"github.com/cellscape/cellscape/property"
)

// DefaultPage is how many rows a page of a Query has at most.
const DefaultPage = 100

// Query asks the store for the entities of a type, in the order of their rows or of a property, a page
// at a time. See entity.Base.QueryStore.
type Query struct {
	Type string
	// Property is one that is Indexed, Unique or the Identifier; "" for the order of the rows.
	Property string
	// Min and Max bound the property, inclusive; the zero Value is no bound. To look for one value, give
	// it as both.
	Min, Max   property.Value
	Descending bool
	// After is the last row of the page before, nil for the first page. An entity that is written between two
	// pages may be missed, or come twice, if its place in the order changed.
	After *Row
	// Limit bounds the rows of the page. Default DefaultPage, at most store.MaxPage. A page that would
	// be too long to be sent has fewer.
	Limit int
}

// Row is what a Query tells of an entity, as it was when it was last written.
type Row struct {
	Row  uint64 // by which entity.Base.LoadBase loads it
	Live bool   // it has a base now
	// Properties are the names of those that can be asked for, and Values what they are.
	Properties []string
	Values     []property.Value
}

// Get is a property of the entity, None if a store cannot be asked for it.
func (r *Row) Get(name string) property.Value {
	if i := slices.Index(r.Properties, name); i >= 0 && i < len(r.Values) {
		return r.Values[i]
	}
	return property.Value{}
}

// Page answers a Query. Err is nil if the store has answered, else a *Error.
type Page struct {
	User int64 // what the script gave to entity.Base.QueryStore
	Rows []Row
	More bool // rows follow the last one
	Err  error
}

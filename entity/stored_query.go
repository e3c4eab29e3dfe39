package entity

import (
	"slices"

	"github.com/cellscape/cellscape/property"
)

// DefaultStoredPage is how many rows a page of a StoredQuery has at most.
const DefaultStoredPage = 100

// StoredQuery asks the store for the entities of a type, in the order of their rows or of a property, a page
// at a time. See Base.QueryStore.
type StoredQuery struct {
	Type string
	// Property is one that is Indexed, Unique or the Identifier; "" for the order of the rows.
	Property string
	// Min and Max bound the property, inclusive; the zero Value is no bound. To look for one value, give
	// it as both.
	Min, Max   property.Value
	Descending bool
	// After is the last row of the page before, nil for the first page. An entity that is written between two
	// pages may be missed, or come twice, if its place in the order changed.
	After *StoredRow
	// Limit bounds the rows of the page. Default DefaultStoredPage, at most store.MaxPage. A page that would
	// be too long to be sent has fewer.
	Limit int
}

// StoredRow is what a StoredQuery tells of an entity, as it was when it was last written.
type StoredRow struct {
	Row  uint64 // by which Base.LoadBase loads it
	Live bool   // it has a base now
	// Properties are the names of those that can be asked for, and Values what they are.
	Properties []string
	Values     []property.Value
}

// Get is a property of the entity, None if a store cannot be asked for it.
func (r *StoredRow) Get(name string) property.Value {
	if i := slices.Index(r.Properties, name); i >= 0 && i < len(r.Values) {
		return r.Values[i]
	}
	return property.Value{}
}

// StoredPage answers a StoredQuery.
type StoredPage struct {
	Request uint64
	Rows    []StoredRow
	More    bool // rows follow the last one
	Err     error
}

// QueryStore asks for a page of what the store keeps of a type, such as the ten highest of a ladder or the
// characters of an account. It returns at once. Later the script's method of that name, a func (T)
// OnX(StoredPage), is called, also on another BaseApp if the base has moved: then, and when the store cannot
// answer, with an Err that says so, and the script may ask again. The returned number tells replies apart.
// Errors are ErrNoCallback, ErrGone, ErrNotStored and ErrTooMany, and that of a query that makes no sense.
func (b *Base) QueryStore(q StoredQuery, method string) (request uint64, err error) {
	return b.host.QueryStore(q, method)
}

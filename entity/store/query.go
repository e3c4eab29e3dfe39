package store

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// Query asks for rows of a type, without their Data: all of them in the order of their ids, or by a
// column, in its order and then that of the ids.
type Query struct {
	Type   string
	Column string // "" for the ids
	// Min and Max bound the column's values, inclusive; None is no bound. To look for one value,
	// give it as both.
	Min, Max   property.Value
	Descending bool
	// AutoLoad leaves out rows that are not marked so.
	AutoLoad bool
	// After is where the page begins: Page.Next of the page before, nil for the first. Rows that are
	// written between two pages may be missed or come twice if their place in the order changed.
	After *Cursor
	Limit int // rows of a page, 1 to MaxPage
}

// Cursor is a place in the order of a Query.
type Cursor struct {
	Value property.Value // of the column, None without one
	ID    ID
}

// Page is an answer to a Query.
type Page struct {
	Rows []Row
	Next *Cursor // where the next page begins; nil after the last
}

// Row is what a Query tells of a row.
type Row struct {
	Key
	Version  uint64
	Holder   Holder // who has it checked out, or nobody
	AutoLoad bool
	Columns  []property.Value // in the order of the type's
}

// CheckQuery returns the type and the column, nil for the ids, of a query that makes sense; the error
// is ErrValue. It brings bounds into the form in which values are stored.
func (s *Schema) CheckQuery(q *Query) (*Type, *Column, error) {
	t := s.Type(q.Type)
	if t == nil {
		return nil, nil, fmt.Errorf("%w: there is no persistent type %q", ErrValue, q.Type)
	}
	if q.Limit < 1 || q.Limit > MaxPage {
		return nil, nil, fmt.Errorf("%w: a page of %d is not within 1 to %d", ErrValue, q.Limit, MaxPage)
	}
	bounds := []*property.Value{&q.Min, &q.Max}
	if q.Column == "" {
		if !q.Min.IsNone() || !q.Max.IsNone() {
			return nil, nil, fmt.Errorf("%w: bounds, and no column", ErrValue)
		}
		return t, nil, nil
	}
	c := t.Column(q.Column)
	if c == nil {
		return nil, nil, fmt.Errorf("%w: %s has no column %q; make the property Indexed", ErrValue, q.Type, q.Column)
	}
	if q.After != nil {
		after := *q.After
		q.After = &after
		bounds = append(bounds, &q.After.Value)
	}
	for i, b := range bounds {
		if b.IsNone() && i < 2 {
			continue
		}
		v, err := c.Fit(*b)
		if err != nil {
			return nil, nil, err
		}
		*b = v
	}
	return t, c, nil
}

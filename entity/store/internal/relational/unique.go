package relational

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/entity/store"
)

// shownTwice is how many values that are in several rows an error names: enough to see what they are.
const shownTwice = 3

// maxValueShown bounds what it shows of one, in bytes.
const maxValueShown = 64

// twice is a value that several rows have.
type twice struct {
	value       any
	first, last int64 // rows
}

func (w twice) String() string {
	text := fmt.Sprint(w.value)
	switch v := w.value.(type) {
	case string:
		text = fmt.Sprintf("%q", v[:min(len(v), maxValueShown)])
	case []byte:
		text = fmt.Sprintf("%q", v[:min(len(v), maxValueShown)])
	}
	return fmt.Sprintf("%s in rows %d and %d", text, w.first, w.last)
}

// tryUnique tries the steps of a plan by which a column becomes unique on the rows that there are: the
// error is store.ErrTaken if some have the same value, as that of Apply would be.
func (s *Store) tryUnique(ctx context.Context, tx Tx, schema *store.Schema, plan store.Plan) error {
	for _, step := range plan {
		if step.Action != store.AddIndex {
			continue
		}
		t := schema.Type(step.Type)
		c := t.Column(step.Column)
		if !c.Unique {
			continue
		}
		fresh := slices.ContainsFunc(plan, func(x store.Step) bool {
			return x.Action == store.AddColumn && x.Type == step.Type && x.Column == step.Column
		})
		find := twiceInColumn
		if fresh {
			find = twiceInData
		}
		list, err := find(ctx, tx, t, c)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		var names []string
		for _, w := range list[:min(len(list), shownTwice)] {
			names = append(names, w.String())
		}
		if len(list) > shownTwice {
			names = append(names, "and more")
		}
		return fmt.Errorf("%w: %s.%s is to be unique, and rows have the same: %s", store.ErrTaken, t.Name, c.Name, strings.Join(names, ", "))
	}
	return nil
}

// twiceInColumn finds what is twice in a column that there is.
func twiceInColumn(ctx context.Context, tx Tx, t *store.Type, c *store.Column) (list []twice, err error) {
	name := columnName(c.Name)
	sql := fmt.Sprintf("SELECT %s, min(id), max(id) FROM %s GROUP BY %s HAVING count(*) > 1 ORDER BY min(id) LIMIT %d", name, tableName(t.Name), name, shownTwice+1)
	err = tx.Query(ctx, Statement{SQL: sql}, func(scan func(...any) error) error {
		var w twice
		err := scan(&w.value, &w.first, &w.last)
		list = append(list, w)
		return err
	})
	return list, err
}

// twiceInData finds what would be twice in a column that is yet to be added, which is filled from the data.
func twiceInData(ctx context.Context, tx Tx, t *store.Type, c *store.Column) (list []twice, err error) {
	at := slices.IndexFunc(t.Columns, func(x store.Column) bool { return x.Name == c.Name })
	seen := make(map[any]int64)
	err = tx.Query(ctx, Statement{SQL: "SELECT id, data FROM " + tableName(t.Name) + " ORDER BY id"}, func(scan func(...any) error) error {
		var id int64
		var data []byte
		if err := scan(&id, &data); err != nil {
			return err
		}
		columns, err := t.ColumnsOf(data)
		if err != nil {
			return fmt.Errorf("%v: %w", store.Key{Type: t.Name, ID: store.ID(id)}, err)
		}
		value := c.Scalar(columns[at])
		if b, ok := value.([]byte); ok {
			value = string(b)
		}
		if first, ok := seen[value]; !ok {
			seen[value] = id
		} else if len(list) <= shownTwice {
			list = append(list, twice{value, first, id})
		}
		return nil
	})
	return list, err
}

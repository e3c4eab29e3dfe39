package relational

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cellscape/cellscape/entity/store"
)

// fillPage is how many rows are read at once to fill a new column.
const fillPage = 256

// Plan implements store.Store.
func (s *Store) Plan(ctx context.Context, schema *store.Schema) (plan store.Plan, err error) {
	err = s.view(ctx, func(tx Tx) error {
		stored, err := descriptions(ctx, tx)
		if err == nil {
			plan, err = schema.PlanFrom(stored)
		}
		if err == nil {
			err = s.tryUnique(ctx, tx, schema, plan)
		}
		return err
	})
	return plan, err
}

// descriptions are what the tables are for, by type.
func descriptions(ctx context.Context, tx Tx) (map[string][]byte, error) {
	stored := make(map[string][]byte)
	err := tx.Query(ctx, Statement{SQL: "SELECT name, description FROM cellscape_type"}, func(scan func(...any) error) error {
		var name string
		var b []byte
		err := scan(&name, &b)
		stored[name] = b
		return err
	})
	return stored, err
}

// Apply implements store.Store.
func (s *Store) Apply(ctx context.Context, schema *store.Schema, destructive bool) (plan store.Plan, err error) {
	err = s.update(ctx, s.dialect.OwnFence, func(tx Tx) error {
		stored, err := descriptions(ctx, tx)
		if err != nil {
			return err
		}
		if plan, err = schema.PlanFrom(stored); err != nil {
			return err
		}
		if err := plan.Allow(destructive); err != nil {
			return err
		}
		for _, step := range plan {
			if err := s.carryOut(ctx, tx, schema.Type(step.Type), step); err != nil {
				return fmt.Errorf("%v: %w", step, err)
			}
		}
		return describe(ctx, tx, schema, stored)
	})
	if err != nil {
		return plan, err
	}
	l := &layout{schema: schema, tables: make(map[string]*table, len(schema.Types))}
	for _, t := range schema.Types {
		l.tables[t.Name] = newTable(t, s.dialect)
	}
	s.applied.Store(l)
	return plan, nil
}

// carryOut does a step; t is nil for a type that goes.
func (s *Store) carryOut(ctx context.Context, tx Tx, t *store.Type, step store.Step) error {
	var list []string
	switch step.Action {
	case store.AddType:
		list = create(t, s.dialect)
		for i := range t.Columns {
			list = append(list, createIndex(t, &t.Columns[i]))
		}
	case store.DropType:
		list = []string{"DROP TABLE " + tableName(step.Type)}
	case store.AddColumn:
		return s.addColumn(ctx, tx, t, t.Column(step.Column))
	case store.DropColumn:
		list = []string{"ALTER TABLE " + tableName(step.Type) + " DROP COLUMN " + columnName(step.Column)}
	case store.AddIndex:
		list = []string{createIndex(t, t.Column(step.Column))}
	case store.DropIndex:
		list = []string{"DROP INDEX IF EXISTS " + indexName(step.Type, step.Column)}
	case store.NoAction:
	}
	for _, sql := range list {
		if _, err := tx.Exec(ctx, Statement{SQL: sql}); err != nil {
			return s.db.Error(err)
		}
	}
	return nil
}

// addColumn adds a column and fills it from the data of the rows.
func (s *Store) addColumn(ctx context.Context, tx Tx, t *store.Type, c *store.Column) error {
	name := tableName(t.Name)
	if _, err := tx.Exec(ctx, Statement{SQL: "ALTER TABLE " + name + " ADD COLUMN " + columnName(c.Name) + " " + s.dialect.of(c.Class)}); err != nil {
		return err
	}
	at := 0
	for &t.Columns[at] != c {
		at++
	}
	set := "UPDATE " + name + " SET " + columnName(c.Name) + " = $2 WHERE id = $1"
	for last := int64(0); ; {
		var fill []Statement
		err := tx.Query(ctx, Statement{fmt.Sprintf("SELECT id, data FROM %s WHERE id > $1 ORDER BY id LIMIT %d", name, fillPage), []any{last}},
			func(scan func(...any) error) error {
				var data []byte
				if err := scan(&last, &data); err != nil {
					return err
				}
				columns, err := t.ColumnsOf(data)
				if err != nil {
					return fmt.Errorf("%v: %w", store.Key{Type: t.Name, ID: store.ID(last)}, err)
				}
				fill = append(fill, Statement{set, []any{last, c.Scalar(columns[at])}})
				return nil
			})
		if err != nil || len(fill) == 0 {
			return err
		}
		if _, err := tx.Batch(ctx, fill); err != nil {
			return err
		}
	}
}

// describe remembers what the tables are for now. Not all of that takes a step, such as a column that
// holds more.
func describe(ctx context.Context, tx Tx, schema *store.Schema, stored map[string][]byte) error {
	same := len(stored) == len(schema.Types)
	for _, t := range schema.Types {
		same = same && bytes.Equal(stored[t.Name], t.Description())
	}
	if same {
		return nil
	}
	list := []Statement{{SQL: "DELETE FROM cellscape_type"}}
	for _, t := range schema.Types {
		list = append(list, Statement{"INSERT INTO cellscape_type (name, description) VALUES ($1, $2)", []any{t.Name, t.Description()}})
	}
	_, err := tx.Batch(ctx, list)
	return err
}

package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// drop removes a property of a definition.
func drop(d *property.Definition, name string) {
	for i, p := range d.Properties {
		if p.Name == name {
			d.Properties = append(d.Properties[:i], d.Properties[i+1:]...)
			return
		}
	}
}

func testSchemaGrows(b *bench) {
	plan, err := b.s.Plan(b.ctx, schemaOf(b, nil))
	if err != nil || len(plan) != 0 {
		b.Fatalf("a plan for what is there: %v, %v", plan, err)
	}
	const rows = 600 // more than a page of what fills a column
	b.fill(rows)
	grown := schemaOf(b, func(avatar, _ *property.Definition) {
		for _, p := range avatar.Properties {
			switch p.Name {
			case "gold":
				p.Type, p.Unique, p.Indexed = property.Scalar(property.KindInt64), true, true
			case "level":
				p.Indexed = false
			}
		}
		avatar.Properties = append(avatar.Properties,
			&property.Property{Name: "title", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Indexed: true, Default: property.StringValue("new")})
	})
	plan, err = b.s.Plan(b.ctx, grown)
	b.must(err)
	for _, part := range []string{"Avatar: add property title", "filled from the data, for gold", "unique, gold", "drop the column of level"} {
		if !strings.Contains(plan.String(), part) {
			b.Errorf("the plan does not tell %q:\n%v", part, plan)
		}
	}
	if len(plan.Destructive()) > 0 {
		b.Errorf("it is said to be destructive:\n%v", plan.Destructive())
	}
	again, err := b.s.Plan(b.ctx, grown)
	if err != nil || again.String() != plan.String() {
		b.Errorf("planning changed something: %v, %v", again, err)
	}
	if done, err := b.s.Apply(b.ctx, grown, false); err != nil || done.String() != plan.String() {
		b.Fatalf("Apply: %v, %v", done, err)
	}
	b.checkGrown(grown, rows)

	// A column that cannot become unique changes nothing at all.
	back := schemaOf(b, func(avatar, _ *property.Definition) {
		for _, p := range avatar.Properties {
			p.Unique = p.Name == "guild"
			p.Identifier = false
		}
	})
	_, err = b.s.Apply(b.ctx, back, true)
	b.want(err, store.ErrTaken)
	b.plansTaken(back, "guild")
	b.plansTaken(schemaOf(b, func(avatar, _ *property.Definition) {
		avatar.Properties = append(avatar.Properties,
			&property.Property{Name: "motto", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Unique: true, Default: property.StringValue("none")})
	}), "motto")
	if again, err := b.s.Plan(b.ctx, grown); err != nil || len(again) > 0 {
		b.Errorf("an Apply that failed left %v, %v", again, err)
	}
	if l := b.one(store.Want{Key: key("Avatar", 0), Identifier: property.StringValue("n3")}); l.Err != nil || l.ID != 4 {
		b.Errorf("%+v", l)
	}
}

// plansTaken demands that a plan says what could not become unique, and lists the steps all the same.
func (b *bench) plansTaken(schema *store.Schema, column string) {
	b.Helper()
	plan, err := b.s.Plan(b.ctx, schema)
	if !errors.Is(err, store.ErrTaken) || !strings.Contains(err.Error(), column) || len(plan) == 0 {
		b.Errorf("the plan for a unique %s: %v, %v", column, plan, err)
	}
}

// fill makes rows with gold.
func (b *bench) fill(rows int) {
	b.Helper()
	typ := schemaOf(b, nil).Type("Avatar")
	for i := 0; i < rows; i += 100 {
		var list []store.Record
		for k := i; k < i+100; k++ {
			base, cell := values(typ)
			set(b, base, "name", property.StringValue(fmt.Sprint("n", k)))
			set(b, base, "gold", property.Int(int64(k)))
			list = append(list, recordOf(b, typ, store.ID(k+1), base, cell))
		}
		b.must(b.s.Create(b.ctx, list))
	}
}

// checkGrown looks at the rows after their type has grown.
func (b *bench) checkGrown(grown *store.Schema, rows int) {
	b.Helper()
	typ := grown.Type("Avatar")
	page, err := b.s.Query(b.ctx, store.Query{Type: "Avatar", Column: "gold", Min: property.Int(432), Max: property.Int(432), Limit: 9})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != 433 {
		b.Errorf("a new column was not filled: %+v, %v", page, err)
	}
	page, err = b.s.Query(b.ctx, store.Query{Type: "Avatar", Column: "title", Min: property.StringValue("new"), Limit: store.MaxPage})
	if err != nil || len(page.Rows) != rows {
		b.Errorf("%d rows have the default of a new property, %v", len(page.Rows), err)
	}
	got := b.read(key("Avatar", 8))
	base, cell := values(typ)
	if _, notices, err := typ.Decode(got.Columns, got.Data, base, cell); err != nil || len(notices) > 0 {
		b.Errorf("%q, %v", notices, err)
	}
	if v := base.Get(typ.Definition().Property("gold").Index); v.Int() != 7 {
		b.Errorf("gold is %v", v)
	}
	r := recordOf(b, typ, 8, base, cell)
	set(b, base, "gold", property.Int(3))
	b.want(b.s.Write(b.ctx, []store.Record{next(recordOf(b, typ, 8, base, cell), 2)}), store.ErrTaken)
	b.must(b.s.Write(b.ctx, []store.Record{next(r, 2)}))
}

func testSchemaForgets(b *bench) {
	b.must(b.s.Create(b.ctx, []store.Record{avatar(b, 1, "Ada", 7), item(b, 1, 5)}))
	less := schemaOf(b, func(avatar, item *property.Definition) {
		drop(avatar, "bag")
		for _, p := range avatar.Properties {
			if p.Name == "level" {
				p.Type = property.Scalar(property.KindString)
				p.Default = property.StringValue("low")
			}
		}
		item.Name = ""
	})
	plan, err := b.s.Apply(b.ctx, less, false)
	b.want(err, store.ErrDestructive)
	for _, part := range []string{"Item: drop the type", "drop property bag", "level changes from INT16 to STRING"} {
		if !strings.Contains(plan.Destructive().String(), part) || !strings.Contains(err.Error(), part) {
			b.Errorf("it does not tell %q: %v", part, err)
		}
	}
	if got := b.read(key("Item", 1)); got.ID != 1 {
		b.Error("a refused Apply did something")
	}
	_, err = b.s.Apply(b.ctx, less, true)
	b.must(err)
	_, err = b.s.Load(b.ctx, []store.Want{{Key: key("Item", 1)}})
	b.want(err, store.ErrValue)
	got := b.read(key("Avatar", 1))
	typ := less.Type("Avatar")
	base, cell := values(typ)
	_, notices, err := typ.Decode(got.Columns, got.Data, base, cell)
	if err != nil || len(notices) != 2 {
		b.Fatalf("%q, %v", notices, err)
	}
	d := typ.Definition()
	if n, l := base.Get(d.Property("name").Index), cell.Get(d.Property("level").Index); n.Str() != "Ada" || l.Str() != "low" {
		b.Errorf("name %v, level %v", n, l)
	}
	if err := b.s.Close(); err != nil {
		b.Fatal(err)
	}
	s, err := b.rig.Open(b.ctx)
	b.must(err)
	b.s = s
	if plan, err := s.Plan(b.ctx, less); err != nil || len(plan) > 0 {
		b.Errorf("after opening anew: %v, %v", plan, err)
	}
	if _, err := s.Apply(b.ctx, schemaOf(b, nil), false); err == nil {
		b.Error("from STRING to INT16 something must be lost")
	}
}

// What does not fit an indexed property any more is its default, as the plan says, and the row can be
// loaded and found all the same.
func testSchemaNarrows(b *bench) {
	typ := schemaOf(b, nil).Type("Avatar")
	for i, level := range []int64{500, 7} {
		base, cell := values(typ)
		set(b, base, "name", property.StringValue(fmt.Sprint("n", i)))
		set(b, base, "token", property.StringValue([]string{"abcd", "abc"}[i]))
		set(b, cell, "level", property.Int(level))
		b.must(b.s.Create(b.ctx, []store.Record{recordOf(b, typ, store.ID(i+1), base, cell)}))
	}
	more := schemaOf(b, func(avatar, _ *property.Definition) {
		for _, p := range avatar.Properties {
			if p.Name == "token" {
				p.DatabaseLength = 100
			}
		}
	})
	if plan, err := b.s.Apply(b.ctx, more, false); err != nil || len(plan) > 0 {
		b.Errorf("a column that holds more: %v, %v", plan, err)
	}
	less := schemaOf(b, func(avatar, _ *property.Definition) {
		for _, p := range avatar.Properties {
			switch p.Name {
			case "level":
				p.Type, p.Default = property.Scalar(property.KindInt8), property.Int(3)
			case "guild":
				p.Flags, p.Default = property.CellPrivate, property.Uint(9)
			case "token":
				p.DatabaseLength = 3
			}
		}
	})
	plan, err := b.s.Apply(b.ctx, less, true)
	b.must(err)
	for _, part := range []string{"level changes from INT16 to INT8", "move property guild", "token holds 3 bytes, no longer 100 bytes"} {
		if !strings.Contains(plan.Destructive().String(), part) {
			b.Errorf("it does not tell %q:\n%v", part, plan)
		}
	}
	typ = less.Type("Avatar")
	d := typ.Definition()
	for i, level := range []int64{3, 7} {
		id := store.ID(i + 1)
		got := b.read(key("Avatar", id))
		base, cell := values(typ)
		_, _, err := typ.Decode(got.Columns, got.Data, base, cell)
		b.must(err)
		if n, g := cell.Get(d.Property("level").Index), cell.Get(d.Property("guild").Index); n.Int() != level || g.Uint() != 9 {
			b.Errorf("row %d has level %v and guild %v", id, n, g)
		}
		if s := base.Get(d.Property("token").Index); s.Str() != []string{"", "abc"}[i] {
			b.Errorf("row %d has token %v", id, s)
		}
		page, err := b.s.Query(b.ctx, store.Query{Type: "Avatar", Column: "level", Min: property.Int(level), Max: property.Int(level), Limit: 9})
		if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != id {
			b.Errorf("of level %d there are %+v, %v", level, page, err)
		}
	}
}

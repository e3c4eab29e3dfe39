package store_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
)

// A character is created, plays, and is found again after the cluster has started anew.
func Example() {
	ctx := context.Background()
	definitions, err := property.NewSchema(&property.Definition{Name: "Avatar", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "name", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Identifier: true},
		{Name: "gold", Type: property.Scalar(property.KindUint32), Flags: property.Base, Persistent: true},
	}})
	if err != nil {
		panic(err)
	}
	schema, err := store.NewSchema(definitions)
	if err != nil {
		panic(err)
	}
	s := memory.New() // or sqlite.Open, or postgres.Open
	plan, err := s.Apply(ctx, schema, false)
	if err != nil {
		panic(err)
	}
	fmt.Print(plan)

	// The first start: a new row, checked out by the entity that it is live as.
	start, err := s.Begin(ctx)
	if err != nil {
		panic(err)
	}
	id, err := s.Reserve(ctx, store.EntityIDs("Avatar"), 1)
	if err != nil {
		panic(err)
	}
	avatar := schema.Type("Avatar")
	base := property.NewValues(avatar.Definition(), property.BaseSide, nil)
	_ = base.Set(0, property.StringValue("Ada"))
	_ = base.Set(1, property.Uint(30))
	row := store.Record{Key: store.Key{Type: "Avatar", ID: store.ID(id)}, Version: 1, Holder: store.Holder{Start: start, App: 3, Entity: entity.ID(3<<32 | 1)}}
	if row.Columns, row.Data, err = avatar.Encode(base, nil, nil); err != nil {
		panic(err)
	}
	if err := s.Create(ctx, []store.Record{row}); err != nil {
		panic(err)
	}
	ada := store.Want{Key: store.Key{Type: "Avatar"}, Identifier: property.StringValue("Ada"), Holder: store.Holder{Start: start, App: 4, Entity: entity.ID(4<<32 | 1)}}
	if loaded, err := s.Load(ctx, []store.Want{ada}); err == nil {
		fmt.Println(loaded[0].Err)
	}

	// The cluster dies. In the next start nobody has Ada checked out.
	start, err = s.Begin(ctx)
	if err != nil {
		panic(err)
	}
	ada.Holder.Start = start
	loaded, err := s.Load(ctx, []store.Want{ada})
	if err != nil || loaded[0].Err != nil {
		panic(errors.Join(err, loaded[0].Err))
	}
	again := property.NewValues(avatar.Definition(), property.BaseSide, nil)
	if _, _, err := avatar.Decode(loaded[0].Columns, loaded[0].Data, again, nil); err != nil {
		panic(err)
	}
	fmt.Println(again.Get(0), again.Get(1))
	row.Version = 2
	fmt.Println(errors.Is(s.Write(ctx, []store.Record{row}), store.ErrSuperseded))
	// Output:
	// Avatar: add the type
	// store: the row is checked out by entity 3.1 on app 3 of start 1
	// "Ada" 30
	// true
}

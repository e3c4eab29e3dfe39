package baseapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// packedSchema is testSchema with an Avatar that is packed everywhere, and that has a list of base
// and cell each.
func packedSchema(t *testing.T) *property.Schema {
	t.Helper()
	list, err := property.NewArray(property.Scalar(property.KindUint32), 200)
	if err != nil {
		t.Fatal(err)
	}
	var types []*property.Definition
	for _, d := range testSchema(t).Types {
		if c := *d; c.Name == "Avatar" {
			c.Compression = property.Compression{Internal: "ZIP_BEST_SPEED", External: "ZIP_9"}
			c.Properties = append(c.Properties[:len(c.Properties):len(c.Properties)],
				&property.Property{Name: "deeds", Type: list, Flags: property.BaseAndClient}, &property.Property{Name: "wounds", Type: list, Flags: property.CellPrivate})
			types = append(types, &c)
		} else {
			types = append(types, d)
		}
	}
	s, err := property.NewSchema(types...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPackedBasePlayer(t *testing.T) {
	schema := packedSchema(t)
	r := joinedRig(t, func(c *Config) { c.Schema = schema })
	r.schema = schema
	r.do["created"] = func(v *avatar) { v.Gold.Set(42) }
	made := r.login("ann")
	player := r.connect(1).basePlayer(made.Token)
	own := property.NewValues(schema.Type("Avatar"), property.OwnClientSide, nil)
	err := new(property.Compressor).ReadStream(player.Props, own, property.OwnClientBaseStream, protocol.MaxProps)
	if gold := own.Get(own.Definition().Property("gold").Index).Int(); err != nil || gold != 42 || len(player.Props) > 100 {
		t.Errorf("%d bytes with gold %d, error %v", len(player.Props), gold, err)
	}
}

func TestPackedCreate(t *testing.T) {
	schema := packedSchema(t)
	r := joinedRig(t, func(c *Config) { c.Schema = schema })
	r.schema = schema
	health := schema.Type("Avatar").Property("health").Index
	id, v := r.spawn()
	err := v.CreateCell(1, property.Vector3{}, property.Vector3{}, func(v *property.Values) { _ = v.Set(health, property.Int(55)) })
	if err != nil {
		t.Fatal(err)
	}
	r.tick()
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appX})
	c := one(t, told[migrate.Create](r, appX))
	cell := property.NewValues(schema.Type("Avatar"), property.CellSide, nil)
	err = migrate.EachPart(c.Parts, func(tag migrate.Tag, body []byte) error {
		if tag != migrate.PropsPart {
			return nil
		}
		return migrate.ReadProps(body, cell, nil)
	})
	if err != nil || cell.Get(health).Int() != 55 || len(c.Parts) > 150 {
		t.Errorf("%d bytes with health %v, error %v", len(c.Parts), cell.Get(health), err)
	}
}

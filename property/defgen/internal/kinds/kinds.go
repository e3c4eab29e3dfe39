// Package kinds is generated code for what a definition tree of one dialect does not have, or not
// without Go: MAP, ANY, USER_TYPE, components, a service, a type that clients see as another. Its
// definitions are in Go.
package kinds

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/property"
)

// Coins is a USER_TYPE of this package.
type Coins struct{ Copper, Silver uint8 }

type coinsCodec struct{}

func (coinsCodec) Default() Coins { return Coins{Copper: 1} }

func (coinsCodec) Append(b []byte, x Coins) ([]byte, error) {
	return append(b, x.Copper, x.Silver), nil
}

func (coinsCodec) Read(b []byte) (x Coins, rest []byte, err error) {
	if len(b) < 2 {
		return x, b, property.ErrTruncated
	}
	return Coins{b[0], b[1]}, b[2:], nil
}

func (coinsCodec) StoreType() *property.DataType { return property.Scalar(property.KindUint16) }

func (coinsCodec) ToStore(x Coins) (property.Value, error) {
	return property.Uint(uint64(binary.LittleEndian.Uint16([]byte{x.Copper, x.Silver}))), nil
}

func (coinsCodec) FromStore(v property.Value) (Coins, error) {
	n := v.Uint()
	return Coins{byte(n), byte(n >> 8)}, nil
}

// addressCodec makes a USER_TYPE of a type of another package.
type addressCodec struct{}

func (addressCodec) Default() netip.Addr { return netip.IPv4Unspecified() }

func (addressCodec) Append(b []byte, x netip.Addr) ([]byte, error) {
	a := x.As16()
	return append(b, a[:]...), nil
}

func (addressCodec) Read(b []byte) (x netip.Addr, rest []byte, err error) {
	if len(b) < 16 {
		return x, b, property.ErrTruncated
	}
	return netip.AddrFrom16([16]byte(b)).Unmap(), b[16:], nil
}

func (addressCodec) StoreType() *property.DataType { return property.Scalar(property.KindString) }

func (addressCodec) ToStore(x netip.Addr) (property.Value, error) {
	return property.StringValue(x.String()), nil
}

func (addressCodec) FromStore(v property.Value) (netip.Addr, error) { return netip.ParseAddr(v.Str()) }

// Schema returns the definitions.
func Schema() (*property.Schema, error) {
	coins, err := property.NewUserType[Coins]("Coins", coinsCodec{})
	if err != nil {
		return nil, err
	}
	address, err := property.NewUserType[netip.Addr]("Address", addressCodec{})
	if err != nil {
		return nil, err
	}
	text, number, any := property.Scalar(property.KindString), property.Scalar(property.KindInt32), property.Scalar(property.KindAny)
	quest, err := property.NewFixedDict(false, property.DictField{Name: "step", Type: number}, property.DictField{Name: "reward", Type: coins},
		property.DictField{Name: "extra", Type: any})
	if err != nil {
		return nil, err
	}
	ranks, err := property.NewMap(text, number)
	if err != nil {
		return nil, err
	}
	quests, err := property.NewMap(property.Scalar(property.KindEntityID), quest)
	if err != nil {
		return nil, fmt.Errorf("quests: %w", err)
	}
	hero := &property.Definition{
		Name: "Hero", HasCell: true, HasBase: true, HasClient: true,
		Components: []property.Component{{Name: "legs", Type: "Legs"}},
		Properties: []*property.Property{
			{Name: "ranks", Type: ranks, Flags: property.AllClients},
			{Name: "quests", Type: quests, Flags: property.OwnClient},
			{Name: "quest", Type: quest, Flags: property.CellPrivate},
			{Name: "purse", Type: coins, Flags: property.AllClients},
			{Name: "origin", Type: address, Flags: property.Base},
			{Name: "whim", Type: any, Flags: property.AllClients},
			{Name: "legs.speed", Component: "legs", Type: number, Flags: property.AllClients},
			{Name: "legs.wear", Component: "legs", Type: ranks, Flags: property.Base},
		},
		CellMethods: []*property.Method{
			{Name: "learn", Exposed: property.ExposedOwn, Args: []property.Arg{{Name: "quests", Type: quests}, {Name: "whim", Type: any}, {Name: "price", Type: coins}}},
			{Name: "legs.jump", Component: "legs", Args: []property.Arg{{Name: "height", Type: number}}},
		},
		ClientMethods: []*property.Method{{Name: "learned", Args: []property.Arg{{Name: "ranks", Type: ranks}, {Name: "quests", Type: quests}}}},
	}
	disguised := &property.Definition{Name: "Spy", ClientName: "Hero", HasCell: true, HasBase: true, HasClient: true,
		Properties: append(hero.Properties[:len(hero.Properties):len(hero.Properties)], &property.Property{Name: "cover", Type: text, Flags: property.CellPrivate}),
		Components: hero.Components, CellMethods: hero.CellMethods, ClientMethods: hero.ClientMethods}
	shop := &property.Definition{Name: "Shop", HasBase: true, Service: true, BaseMethods: []*property.Method{
		{Name: "buy", Args: []property.Arg{{Name: "quest", Type: quest}}, Returns: []property.Arg{{Type: coins}}},
	}}
	return property.NewSchema(hero, disguised, shop)
}

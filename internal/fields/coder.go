package fields

import (
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// ID codes an entity id.
func ID(c *codec.Coder, v *entity.ID) { codec.Field(c, v, AppendID, ReadID) }

// Order codes an Order.
func Order(c *codec.Coder, v *entity.Order) { codec.Field(c, v, AppendOrder, ReadOrder) }

// Address codes the address of an app.
func Address(c *codec.Coder, v *mercury.Address) {
	codec.Field(c, v, mercury.AppendAddress, mercury.ReadAddress)
}

// Vector3 codes what AppendVector3 appends.
func Vector3(c *codec.Coder, v *property.Vector3) { codec.Field(c, v, AppendVector3, ReadVector3) }

// Rect codes a rectangle.
func Rect(c *codec.Coder, v *bsp.Rect) { codec.Field(c, v, AppendRect, ReadRect) }

// SpaceInfo codes the description of a space. Any number is read, also one that makes no sense:
// whoever makes spaces of it judges.
func SpaceInfo(c *codec.Coder, v *entity.SpaceInfo) {
	FirstSpaceInfo(c, v)
	c.Varint((*int64)(&v.KeepFor))
}

// FirstSpaceInfo codes what stores have of spaces that were kept before there was KeepFor.
func FirstSpaceInfo(c *codec.Coder, v *entity.SpaceInfo) {
	Rect(c, &v.Bounds)
	codec.Uint32(c, &v.MinCells)
	codec.Uint32(c, &v.MaxCells)
	Rect(c, &v.Geometry)
	c.F64(&v.MinLoad)
	c.Bool(&v.Keep)
	codec.Uint32(c, &v.MaxEntities)
}

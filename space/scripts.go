package space

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Scripts are the Go types that the game wrote for the cell parts of entity types, for their
// ghosts, and for what moves them. Register everything, then give it to the CellApps; several may
// share it, since it is only read then.
type Scripts struct {
	registry    script.Registry
	reals       script.Table
	ghosts      script.Table
	controllers []controllerType

	firstCell func(c *Cell, fromStore bool) // see OnFirstCell
	area      func(c *Cell)                 // see OnArea
}

// NewScripts returns an empty registry for the definitions of a schema.
func NewScripts(schema *property.Schema) *Scripts {
	s := &Scripts{registry: script.NewRegistry(schema)}
	hasCell := func(d *property.Definition) bool { return d.HasCell }
	s.reals = script.NewTable(&s.registry, script.Kind{
		Name: "space: script", Part: reflect.TypeFor[*Real](), Side: property.CellSide, Has: hasCell, Attribute: "hasCell",
		Methods: func(d *property.Definition) []*property.Method { return d.CellMethods }, Caller: true,
		Hooks: hooks(), Callbacks: []reflect.Type{reflect.TypeFor[entity.Callback]()},
	})
	s.ghosts = script.NewTable(&s.registry, script.Kind{
		Name: "space: ghost script", Part: reflect.TypeFor[*Ghost](), Side: property.GhostSide, Has: hasCell, Attribute: "hasCell",
		Setters: true,
	})
	RegisterController[walk](s, walkTag)
	return s
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.registry.Schema() }

// Err reports every fault of all registrations, nil if there is none. Types without a script are
// allowed: they have properties and no behaviour.
func (s *Scripts) Err() error { return s.registry.Err() }

// Register gives the cell part of entity type name a script: a pointer to T, which is made by
// constructor, or else by new. T embeds *space.Real. Its handle fields (property.Field) are bound
// to the properties of their names; any other field must be tagged `cellscape:"local"`, meaning
// that it is lost when the entity moves. Every cell method of the definition is a Go method of *T.
// A method that begins with On is one of those, a hook (Creator and its kin), or a callback of a
// timer or controller, func (T) OnX(entity.Callback); another is refused, since nothing would call
// it. Faults are kept for Err.
func Register[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.reals, name, constructor)
}

// RegisterGhost gives the ghosts of entity type name a script: a pointer to T, which is made by
// constructor, or else by new. T embeds *space.Ghost. Its handle fields are bound to the ghosted
// properties of their names; writing to one is property.ErrReadOnly. Any other field must be tagged
// `cellscape:"local"`: it is lost with the ghost. Its setters, OnSet and the property's name, hear
// of each change after it is in place, but not of the values with which the ghost is made; see
// property.Setters. A ghost has no other callbacks. A panic is reported, and the ghost goes on
// without its script. Faults are kept for Err.
func RegisterGhost[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.ghosts, name, constructor)
}

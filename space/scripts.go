package space

import (
	"reflect"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/ending"
)

// Scripts holds the game's Go types for the cell parts of entity types, for their ghosts and for
// controllers. Register everything before you give it to CellApps. Several may share it, since they
// only read it.
type Scripts struct {
	registry    script.Registry
	reals       script.Table
	ghosts      script.Table
	controllers []controllerType

	newCell   func(c *Cell)                  // see OnNewCell
	cellEnd   func(c *Cell, why ending.Why)  // see OnCellEnd
	firstCell func(c *Cell, fromStore bool)  // see OnFirstCell
	lostArea  func(c *Cell, area bsp.Rect)   // see OnLostArea
	area      func(c *Cell)                  // see OnArea
	arrival   func(c *Cell, a Arrival) error // see OnArrival
}

// NewScripts returns an empty registry for the definitions of a schema.
func NewScripts(schema *property.Schema) *Scripts {
	s := &Scripts{registry: script.NewRegistry(schema)}
	hasCell := func(d *property.Definition) bool { return d.HasCell }
	s.reals = script.NewTable(&s.registry, script.Kind{
		Name: "space: script", Part: reflect.TypeFor[*Real](), Side: property.CellSide, Has: hasCell, Attribute: "hasCell",
		Methods: func(d *property.Definition) []*property.Method { return d.CellMethods }, Caller: true,
		Hooks: hooks(), Callbacks: []reflect.Type{reflect.TypeFor[entity.Callback](), reflect.TypeFor[entity.Reply](), reflect.TypeFor[entity.BaseReply](), reflect.TypeFor[entity.NameReply](),
			reflect.TypeFor[SpawnReply](), reflect.TypeFor[Trapped]()},
	})
	s.ghosts = script.NewTable(&s.registry, script.Kind{
		Name: "space: ghost script", Part: reflect.TypeFor[*Ghost](), Side: property.GhostSide, Has: hasCell, Attribute: "hasCell",
		Setters: true,
	})
	RegisterController[walk](s, walkTag)
	RegisterController[chase](s, chaseTag)
	RegisterController[trap](s, trapTag)
	RegisterController[turn](s, turnTag)
	return s
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.registry.Schema() }

// Err reports all faults of all registrations; nil if there are none. A type may lack a script; it
// then has properties but no behaviour.
func (s *Scripts) Err() error { return s.registry.Err() }

// Register gives the cell part of the entity type called name its script, a *T. The constructor
// makes it, or new without one. T must embed *space.Real. Its handle fields (property.Field) are
// bound to the properties of their names; any other field must have the tag `cellscape:"local"`,
// which means that it is lost when the entity moves. Every cell method of the definition must be a
// Go method of *T. A method whose name begins with On must be one of those, a hook such as
// Creator's, or the callback of a timer or controller, func (T) OnX(entity.Callback), or of a
// two-way call, func (T) OnX(entity.Reply). Any other is refused, since nothing would call it. Err
// reports the faults.
func Register[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.reals, name, constructor)
}

// RegisterGhost gives the ghosts of the entity type called name a script, a *T. The constructor
// makes it, or new without one. T must embed *space.Ghost. Its handle fields are bound to the
// ghosted properties of their names, and setting one fails with property.ErrReadOnly. Any other
// field must have the tag `cellscape:"local"`, since it is lost with the ghost. Setters, methods
// called OnSet and the property's name, are called after each change, but not for the values with
// which the ghost is made; see property.Setters. A ghost has no other callbacks. A panic is logged,
// and the ghost goes on without its script. Err reports the faults.
func RegisterGhost[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.ghosts, name, constructor)
}

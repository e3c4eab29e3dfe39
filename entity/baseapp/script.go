package baseapp

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Scripts holds the game's Go types for the base parts of entity types. Register everything before
// you give it to BaseApps. Several may share it, since they only read it.
type Scripts struct {
	registry script.Registry
	bases    script.Table
}

// NewScripts returns an empty registry for the definitions of a schema.
func NewScripts(schema *property.Schema) *Scripts {
	s := &Scripts{registry: script.NewRegistry(schema)}
	s.bases = script.NewTable(&s.registry, script.Kind{
		Name: "baseapp: script", Part: reflect.TypeFor[*entity.Base](), Side: property.BaseSide,
		Has: func(d *property.Definition) bool { return d.HasBase }, Attribute: "hasBase",
		Methods: func(d *property.Definition) []*property.Method { return d.BaseMethods },
		Hooks:   hooks(), Foreign: foreignHooks(),
		Callbacks: []reflect.Type{reflect.TypeFor[entity.Callback](), reflect.TypeFor[entity.SpaceReply](), reflect.TypeFor[entity.DownloadEnd](), reflect.TypeFor[entity.ClientGiven](),
			reflect.TypeFor[entity.BaseReply](), reflect.TypeFor[entity.NameReply](), reflect.TypeFor[stored.Page](), reflect.TypeFor[entity.Reply](), reflect.TypeFor[entity.TeleportReply](),
			reflect.TypeFor[entity.CellReply](), reflect.TypeFor[stored.Reply]()},
	})
	return s
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.registry.Schema() }

// Err reports all faults of all registrations; nil if there are none. A type may lack a script, but
// then nobody can make a base of it.
func (s *Scripts) Err() error { return s.registry.Err() }

// Register gives the base part of the entity type called name its script, a *T. The constructor
// makes it, or new without one. T must embed *entity.Base. Its handle fields (property.Field) are
// bound to the properties of their names; any other field must have the tag `cellscape:"local"`,
// which means that it is lost when the base moves. Every base method of the definition must be a Go
// method of *T. A method whose name begins with On must be one of those, a hook such as Creator's,
// a timer's callback, func (T) OnX(entity.Callback), or that of a request, func (T)
// OnX(entity.SpaceReply), and so on. Any other is refused, since nothing would call it. Err reports
// the faults.
//
// For a service the script is that of its fragments: each BaseApp with these scripts runs one, and calls by
// entity.ServiceMailbox go to one of them. What a fragment holds is lost with its BaseApp, so its fields
// are all local.
func Register[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.bases, name, constructor)
}

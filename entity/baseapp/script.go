package baseapp

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Scripts are the Go types that the game wrote for the base parts of entity types. Register
// everything, then give it to the BaseApps; several may share it, since it is only read then.
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
		Callbacks: []reflect.Type{reflect.TypeFor[entity.Callback](), reflect.TypeFor[entity.SpaceReply](), reflect.TypeFor[entity.DownloadEnd]()},
	})
	return s
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.registry.Schema() }

// Err reports every fault of all registrations, nil if there is none. Types without a script are
// allowed, but nobody can make a base of them.
func (s *Scripts) Err() error { return s.registry.Err() }

// Register gives the base part of entity type name a script: a pointer to T, which is made by
// constructor, or else by new. T embeds *entity.Base. Its handle fields (property.Field) are bound
// to the properties of their names; any other field must be tagged `cellscape:"local"`, meaning
// that it is lost when the base moves. Every base method of the definition is a Go method of *T. A
// method that begins with On is one of those, a hook (Creator and its kin), a callback of a timer,
// func (T) OnX(entity.Callback), or one of a new space, func (T) OnX(entity.SpaceReply); another is
// refused, since nothing would call it. Faults are kept for Err.
func Register[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.bases, name, constructor)
}

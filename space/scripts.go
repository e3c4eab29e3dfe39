package space

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Callbacks that a script may have. Each is called by the cell, on the goroutine
// of its CellApp, never in the middle of a walk over its lists.
type (
	// Creator hears that the real was made for the first time.
	Creator interface{ OnCreated() }
	// Restorer hears that the real came back from its backup.
	Restorer interface{ OnRestored() }
	// Leaver is asked before the real goes to another cell; what it changes travels along.
	Leaver interface{ OnLeavingCell() }
	// Enterer hears that the real has arrived on another cell.
	Enterer interface{ OnEnteredCell() }
	// Destroyer hears that the real is about to be destroyed.
	Destroyer interface{ OnDestroy() }
	// ClientWatcher hears that the player's client came or went.
	ClientWatcher interface{ OnClient(attached bool) }
	// CallRefuser hears that a call of the own client to another entity was refused,
	// or given up: nobody has handled it, nor will.
	CallRefuser interface{ OnCallRefused(call RefusedCall) }
)

// Scripts binds entity types to the Go types that the game wrote for their cell
// parts. Register everything, then give it to the CellApps; several may share it,
// since it is only read then.
type Scripts struct {
	schema *property.Schema
	types  []*scriptType // by definition id
	ghosts []*ghostType  // by definition id
	faults []error

	firstCell func(c *Cell, fromStore bool) // see OnFirstCell
	area      func(c *Cell)                 // see OnArea
}

// NewScripts returns an empty registry for the definitions of a schema.
func NewScripts(schema *property.Schema) *Scripts {
	return &Scripts{schema: schema, types: make([]*scriptType, len(schema.Types)), ghosts: make([]*ghostType, len(schema.Types))}
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.schema }

type scriptType struct {
	typ      reflect.Type // *T
	methods  *script.Methods
	callback map[string]int // Go method index by name: timers and controllers name their callbacks
}

// Register binds entity type name to the Go type T, a struct that embeds
// *space.Real. Its handle fields (property.Field) are bound to the properties of
// their names; any other field must be tagged `cellscape:"local"`, meaning that
// it is lost when the entity moves. Its methods answer the cell methods of the
// definition. A method that begins with On is one of those, a callback of Creator and
// its kin, or a timer's func (T) OnX(space.Callback); another is refused, since nothing
// would call it. Faults are kept for Err.
func Register[T any](s *Scripts, name string) {
	if err := register(s, name, reflect.TypeFor[*T]()); err != nil {
		s.faults = append(s.faults, fmt.Errorf("space: script for %s: %w", name, err))
	}
}

func register(s *Scripts, name string, t reflect.Type) error {
	d, err := s.cellType(name)
	if err != nil {
		return err
	}
	if s.types[d.ID] != nil {
		return errors.New("registered twice")
	}
	if err := embeds(t, "Real", reflect.TypeFor[*Real]()); err != nil {
		return err
	}
	st := t.Elem()
	methods, err := script.BindMethods(t, d.CellMethods, true)
	hooks := cellHooks(d)
	err = errors.Join(err, hooks.Check(t), property.CheckFields(st, d, property.CellSide, reflect.TypeFor[*Real]()))
	if err != nil {
		return err
	}
	x := &scriptType{typ: t, methods: methods, callback: make(map[string]int)}
	for i := range t.NumMethod() {
		m := t.Method(i)
		if named, _ := isCallback(m); named {
			x.callback[m.Name] = i
		}
	}
	s.types[d.ID] = x
	return nil
}

// isCallback reports whether a timer or controller can call a method. Its parameter tells it from the cell's own callbacks.
func isCallback(m reflect.Method) (named, apart bool) {
	named = m.Type.NumIn() == 2 && m.Type.In(1) == reflect.TypeFor[Callback]() && m.Type.NumOut() == 0
	return named, true
}

// cellHooks is what is called on the script of a cell part.
func cellHooks(d *property.Definition) script.Hooks {
	return script.Hooks{
		Own: []reflect.Type{
			reflect.TypeFor[Creator](), reflect.TypeFor[Restorer](), reflect.TypeFor[Leaver](),
			reflect.TypeFor[Enterer](), reflect.TypeFor[Destroyer](), reflect.TypeFor[ClientWatcher](), reflect.TypeFor[CallRefuser](),
		},
		Part: reflect.TypeFor[*Real](), Methods: d.CellMethods,
		Named: isCallback, Ways: "what a timer or controller calls: func (T) OnX(space.Callback)",
	}
}

// cellType is the definition of a type that may have a script on cells.
func (s *Scripts) cellType(name string) (*property.Definition, error) {
	d := s.schema.Type(name)
	if d == nil {
		return nil, fmt.Errorf("the definitions have no entity type %q; add it to entities.xml", name)
	}
	if !d.HasCell {
		return nil, fmt.Errorf("the definitions give it no cell part; set hasCell in entities.xml, or remove the script")
	}
	return d, nil
}

// embeds reports whether t is a pointer to a struct that embeds a part of that name.
func embeds(t reflect.Type, name string, part reflect.Type) error {
	st := t.Elem()
	if st.Kind() != reflect.Struct {
		return fmt.Errorf("%s is no struct", st)
	}
	if f, ok := st.FieldByName(name); !ok || !f.Anonymous || f.Type != part {
		return fmt.Errorf("%s does not embed *space.%s", st, name)
	}
	return nil
}

// Err reports every fault of all registrations, nil if there is none. Entity
// types with a cell part and without a script are allowed: they have properties
// and no behaviour.
func (s *Scripts) Err() error { return errors.Join(s.faults...) }

func (s *Scripts) forType(d *property.Definition) *scriptType { return s.types[d.ID] }

// bind makes the script of a real.
func (t *scriptType) bind(r *Real) reflect.Value {
	v := reflect.New(t.typ.Elem())
	v.Elem().FieldByName("Real").Set(reflect.ValueOf(r))
	property.BindFields(v.Interface(), r.e.Props, reflect.TypeFor[*Real]())
	return v
}

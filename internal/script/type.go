package script

import (
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Type is a Go type that fits its definition: what makes scripts of it and calls them.
type Type struct {
	def       *property.Definition
	script    reflect.Type // *T
	produce   func() reflect.Value
	part      []int // path to the field of what the script embeds
	methods   *Methods
	fields    *property.Binding
	setters   *property.Setters
	callbacks map[string]callback
}

// New makes a script, which embeds part and has its fields bound to v. It panics if the game's
// constructor does, or returns nil.
func (t *Type) New(part any, v *property.Values) reflect.Value {
	script := t.produce()
	if script.IsNil() {
		panic(fmt.Sprintf("script: the constructor of %v returned nil", t.script))
	}
	script.Elem().FieldByIndex(t.part).Set(reflect.ValueOf(part))
	t.fields.Bind(script, v)
	return script
}

// Method is the description of a method by its index, which comes from outside. The error is
// entity.ErrNoMethod, as for a type without a script, which t is nil for.
func (t *Type) Method(index int) (*property.Method, error) {
	if t == nil {
		return nil, fmt.Errorf("%w: the type has no script", entity.ErrNoMethod)
	}
	return t.methods.Description(index)
}

// Call decodes args and calls method index of a script; p is for that alone. A panic of the script
// passes through: the caller contains it.
func (t *Type) Call(p *Parameters, script reflect.Value, index int, source entity.ID, args []byte) (Results, error) {
	if _, err := t.Method(index); err != nil {
		return Results{}, err
	}
	return t.methods.Call(p, script, index, source, args)
}

// Hear calls the setter of a change that is in place, if the script has one.
func (t *Type) Hear(script reflect.Value, c *property.Change) { t.setters.Call(script, c) }

package script

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/cellscape/cellscape/entity"
)

// callback is a method of a script that is called by its name, which the script gave along.
type callback struct {
	index int
	tells reflect.Type // what it is told
}

// findCallbacks lists the methods of a script that take one of the kind's callbacks.
func findCallbacks(script reflect.Type, k *Kind) map[string]callback {
	found := make(map[string]callback)
	for i := range script.NumMethod() {
		if m := script.Method(i); k.isCallback(m) {
			found[m.Name] = callback{i, m.Type.In(1)}
		}
	}
	return found
}

// isCallback reports whether a method can be called by its name: its parameter tells so.
func (k *Kind) isCallback(m reflect.Method) bool {
	return m.Type.NumIn() == 2 && m.Type.NumOut() == 0 && !m.Type.IsVariadic() && slices.Contains(k.Callbacks, m.Type.In(1))
}

// CheckCallback returns entity.ErrNoCallback if the script has no func (T) method(A). t is nil for
// a type without a script.
func CheckCallback[A any](t *Type, method string) error {
	tells := reflect.TypeFor[A]()
	switch {
	case t == nil:
		return fmt.Errorf("%w: the type has no script", entity.ErrNoCallback)
	case t.callbacks[method].tells != tells:
		return fmt.Errorf("%w: %q; add func (%v) %s(%v)", entity.ErrNoCallback, method, t.script, method, tells)
	case len(method) > MaxName:
		return fmt.Errorf("%w: the name %q is longer than %d bytes", entity.ErrNoCallback, method, MaxName)
	}
	return nil
}

// CallBack calls a callback of a script by its name. The error is that of CheckCallback: the name
// may have come from a process with another edition of the script.
func CallBack[A any](t *Type, script reflect.Value, method string, a A) error {
	if err := CheckCallback[A](t, method); err != nil {
		return err
	}
	script.Method(t.callbacks[method].index).Interface().(func(A))(a)
	return nil
}

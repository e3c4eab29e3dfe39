package mercury_test

import (
	"fmt"

	"github.com/cellscape/cellscape/mercury"
)

// walker is what the handlers of the example work on.
type walker struct {
	x     float32
	moved bool // to another app
}

// walkerInterface is the table of what a walker understands.
func walkerInterface() (*mercury.Interface[*walker], error) {
	return mercury.NewInterface("walker",
		mercury.Message[*walker]{ID: 1, Name: "step", Length: 4, Handler: func(w *walker, r *mercury.Reader) error {
			w.x += r.F32()
			return nil
		}},
		mercury.Message[*walker]{ID: 2, Name: "say", Length: mercury.Variable, Handler: func(w *walker, r *mercury.Reader) error {
			fmt.Printf("at %v: %s\n", w.x, r.Rest())
			return nil
		}},
		mercury.Message[*walker]{ID: 3, Name: "leave", Length: mercury.Empty, Handler: func(w *walker, r *mercury.Reader) error {
			w.moved = true
			return mercury.ErrStop // what follows is for the app where it is now
		}},
	)
}

// A bundle of messages, whose rest is forwarded when the one they are for has moved away.
func ExampleInterface() {
	table, err := walkerInterface()
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle, step := table.Begin(nil, 1)
	bundle, _ = table.End(mercury.AppendF32(bundle, 2.5), step)
	bundle, _ = table.Append(bundle, 2, []byte("hello"))
	bundle, _ = table.Append(bundle, 3, nil)
	bundle, _ = table.Append(bundle, 2, []byte("and good bye"))

	here := &walker{}
	rest, err := table.Dispatch(here, bundle)
	fmt.Println(here.moved, len(rest), err)

	there := &walker{x: here.x}
	rest, err = table.Dispatch(there, rest)
	fmt.Println(there.moved, len(rest), err)

	_, err = table.Dispatch(there, []byte{1, 0, 0})
	fmt.Println(err)
	for s := range table.Stats() {
		fmt.Println(s.Name, s.In.Messages, s.In.Bytes)
	}
	// Output:
	// at 2.5: hello
	// true 14 <nil>
	// at 2.5: and good bye
	// false 0 <nil>
	// mercury: interface walker, message 1 "step" at 0: mercury: message ends too early
	// step 1 5
	// say 2 21
	// leave 1 1
}

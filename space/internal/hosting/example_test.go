package hosting_test

import (
	"fmt"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// printed is an Outbox that prints what is sent. What it does not have, nobody asks it for here.
type printed struct{ hosting.Outbox }

func (printed) Send(to mercury.Address, m hosting.Message) {
	fmt.Printf("%T of %d bytes\n", m, len(m.Append(nil)))
}

// Cells send through the Outbox of their CellApp.
func Example() {
	env := hosting.Env{Out: printed{}}
	env.Out.Send(mercury.Address{}, &migrate.OnloadAck{ID: 7})
	// Output: *migrate.OnloadAck of 4 bytes
}

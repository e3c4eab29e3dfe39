package protocol_test

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// A bundle is framed messages; a receiver skips what it does not know.
func Example() {
	var bundle []byte
	bundle = protocol.AppendBundle(bundle, 12)
	enter := protocol.Enter{ID: 9<<32 | 1, Type: 2, Position: property.Vector3{X: 10, Z: 20}}
	bundle = enter.Append(bundle)
	bundle = protocol.AppendLeave(bundle, 9<<32|2)

	err := protocol.Messages(bundle, func(id protocol.ID, body []byte) error {
		switch id {
		case protocol.EnterID:
			var m protocol.Enter
			if err := m.Parse(body); err != nil {
				return err
			}
			fmt.Println("enter", m.ID, "at", m.Position)
		case protocol.LeaveID:
			gone, err := protocol.ParseLeave(body)
			if err != nil {
				return err
			}
			fmt.Println("leave", gone)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// enter 9.1 at {10 0 20}
	// leave 9.2
}

package cellapp_test

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// Validate reports all faults of a configuration at once, each with its remedy.
func ExampleConfig_Validate() {
	schema, err := property.NewSchema(&property.Definition{Name: "Rock", HasCell: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := cellapp.Config{
		Manager: netip.MustParseAddrPort("10.0.0.1:20013"),
		Scripts: space.NewScripts(schema),
	}
	fmt.Println(cfg.Validate())
	// Output:
	// cellapp: Transport is nil; set it to the runner's transport
	// cellapp: Chance is nil; set it to a seeded *rand.Rand
}

package baseapp_test

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
)

// Account is the base part of a player.
type Account struct {
	*entity.Base
	Gold property.Int32
}

// OnCreated sends the player into space 1, with the health to start with.
func (a *Account) OnCreated() {
	a.Gold.Set(100)
	err := a.CreateCell(1, property.Vector3{X: 10, Z: 20}, property.Vector3{}, nil)
	if err != nil {
		a.Log().Error("no cell part", "error", err)
	}
}

// Buy is the exposed base method "buy".
func (a *Account) Buy(price int32) {
	if a.Gold.Get() >= price {
		a.Gold.Set(a.Gold.Get() - price)
	}
}

// Scripts are checked against the definitions at start-up, all faults at once.
func ExampleRegister() {
	i32 := property.Scalar(property.KindInt32)
	schema, err := property.NewSchema(&property.Definition{
		Name: "Account", HasCell: true, HasBase: true, HasClient: true,
		Properties:  []*property.Property{{Name: "gold", Type: i32, Flags: property.BaseAndClient}},
		BaseMethods: []*property.Method{{Name: "buy", Exposed: property.ExposedOwn, Args: []property.Arg{{Name: "price", Type: i32}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts := baseapp.NewScripts(schema)
	baseapp.Register[Account](scripts, "Account")
	cfg := baseapp.Config{Schema: schema, Scripts: scripts, PlayerType: "Account"}
	fmt.Println(cfg.Validate())
	// Output:
	// baseapp: configuration: Transport is nil; give the transport that the app speaks through
	// baseapp: configuration: Manager is not an address; give the host and port of the CellAppMgr
	// baseapp: configuration: Secrets is nil; give a source of random bytes, such as crypto/rand's Read
}

package accounts_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/accounts"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
)

// Accounts in a store, as the Auth of a LoginApp.
func Example() {
	ctx := context.Background()
	definitions, err := property.NewSchema() // the game's
	if err != nil {
		panic(err)
	}
	typ, err := accounts.Type()
	if err != nil {
		panic(err)
	}
	schema, err := store.NewSchema(definitions, typ)
	if err != nil {
		panic(err)
	}
	s := memory.New()
	if _, err := s.Apply(ctx, schema, false); err != nil {
		panic(err)
	}
	a, err := accounts.New(s, accounts.Config{})
	if err != nil {
		panic(err)
	}
	if _, err := a.Create(ctx, "Ada", "correct horse"); err != nil {
		panic(err)
	}
	var auth loginapp.Auth = a
	player, err := auth.Authenticate(ctx, "Ada", "correct horse")
	fmt.Println(player.Account, err)
	_, err = auth.Authenticate(ctx, "Ada", "wrong")
	fmt.Println(errors.Is(err, loginapp.ErrCredentials))
	// Output:
	// Ada <nil>
	// true
}

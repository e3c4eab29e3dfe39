package loginapp_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity/loginapp"
)

// clan lets in whoever knows the clan's word, and makes an account of the name.
type clan struct{ word string }

func (c clan) Authenticate(_ context.Context, user, password string) (loginapp.Player, error) {
	if password != c.word {
		// The text is for the log; the client hears only that it may not come in.
		return loginapp.Player{}, errors.New("does not know the word")
	}
	return loginapp.Player{Account: "clan/" + user}, nil
}

// A game says who its players are by an Auth.
func Example() {
	for _, auth := range []loginapp.Auth{clan{"mellon"}, loginapp.Table{"frodo": "shire"}, loginapp.AcceptAll{}} {
		player, err := auth.Authenticate(context.Background(), "frodo", "mellon")
		fmt.Printf("%T: %q %v\n", auth, player.Account, err)
	}
	err := (&loginapp.Config{Auth: loginapp.AcceptAll{}}).Validate()
	fmt.Println(err)
	// Output:
	// loginapp_test.clan: "clan/frodo" <nil>
	// loginapp.Table: "" loginapp: unknown user or wrong password
	// loginapp.AcceptAll: "frodo" <nil>
	// loginapp: Config.Transport is nil: give the transport of this process
	// loginapp: Config.Manager is invalid AddrPort: give the address and port of the CellAppMgr
	// loginapp: Config.Schema is nil: load the cluster's definitions
	// loginapp: Config.Jobs is nil: give the runner's Jobs
}

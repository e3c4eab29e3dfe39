package entity_test

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
)

func TestMailboxKinds(t *testing.T) {
	for k, want := range map[entity.MailboxKind]string{0: "no mailbox 0", entity.CellMailbox: "cell cell", entity.BaseViaCell: "base via cell base",
		entity.ClientViaBase: "client via base client", entity.ServiceMailbox: "service base", 99: "no mailbox 0"} {
		side := fmt.Sprint(k.Part())
		if k.Part() == 0 {
			side = "0"
		}
		if got := fmt.Sprint(k, " ", side); got != want {
			t.Errorf("%d is %s, want %s", uint8(k), got, want)
		}
	}
}

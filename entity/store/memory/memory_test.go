package memory_test

import (
	"context"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/entity/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) *storetest.Rig {
		s := memory.New()
		return &storetest.Rig{Open: func(context.Context) (store.Store, error) {
			s.Reopen()
			return s, nil
		}}
	})
}

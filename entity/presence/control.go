package presence

import (
	"github.com/cellscape/cellscape/entity"
)

// Control says that the client of another entity moves an entity. It is zero if none does: then the
// entity's own client moves it, or the server.
type Control struct {
	// By is the entity whose client it is.
	By entity.ID
	// Number is that of the last forced place, which the client's moves must repeat.
	Number uint32
}

package script

import (
	"errors"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
)

// Unmade says why an entity was not made near another one, whose part could not be asked, by the error
// of the call.
func Unmade(err error) *placement.CreateError {
	code := placement.NotFound
	if errors.Is(err, entity.ErrTimeout) {
		code = placement.Unanswered
	}
	return &placement.CreateError{Code: code, Reason: err.Error()}
}

package script

import (
	"errors"

	"github.com/cellscape/cellscape/entity"
)

// Unmade says why an entity was not made near another one, whose part could not be asked, by the error
// of the call.
func Unmade(err error) *entity.CreateError {
	code := entity.TeleportNotFound
	if errors.Is(err, entity.ErrTimeout) {
		code = entity.TeleportUnanswered
	}
	return &entity.CreateError{Code: code, Reason: err.Error()}
}

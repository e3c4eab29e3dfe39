package client

import (
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/daytime"
)

// dayClock is what the client was last told of the time of day.
type dayClock struct {
	told bool
	at   time.Duration // on the client's clock
	from daytime.Clock
}

// TimeOfDay is the time of day in the player's space as of the last Tick, from 0 to daytime.Day; ok
// is false if the space has none. It runs with the game time of the space, later by half a round
// trip. If the space was slowed down and the client hears of it, it may go back a little.
func (c *Client) TimeOfDay() (day time.Duration, ok bool) {
	return c.day.from.At(c.now - c.day.at), c.day.told
}

func (c *Client) onTimeOfDay(body []byte) error {
	var m protocol.TimeOfDay
	if err := m.Parse(body); err != nil {
		return err
	}
	c.day = dayClock{true, c.now, daytime.Clock{Start: m.Day, Speed: float64(m.Speed)}}
	return nil
}

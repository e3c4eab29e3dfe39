package client

// onLeaveSpace forgets the place that the player's entity has been teleported away from. The bundles
// go on, so that late packets of the old view tell of nobody in the new one.
func (c *Client) onLeaveSpace(body []byte) error {
	if len(body) > 0 {
		return malformed("leave space has a body")
	}
	bundle := c.bundle
	c.forget()
	c.bundle = bundle
	if c.cfg.Events.LeftSpace != nil {
		c.cfg.Events.LeftSpace(c.player)
	}
	return nil
}

func (c *Client) onArrived(body []byte) error {
	if len(body) > 0 {
		return malformed("arrived has a body")
	}
	if c.cfg.Events.Arrived != nil {
		c.cfg.Events.Arrived(c.player)
	}
	return nil
}

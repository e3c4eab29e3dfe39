package app_test

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/app"
)

func ExampleAllocator() {
	a, err := app.NewAllocator(12)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := a.Next()
	second, _ := a.Next()
	fmt.Println(first, second)
	// Output: 12.1 12.2
}

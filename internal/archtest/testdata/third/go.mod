module third.example/lib

go 1.26.0

module github.com/attestry/attestry/sdks/go

go 1.19

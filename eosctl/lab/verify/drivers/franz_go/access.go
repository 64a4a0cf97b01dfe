package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

type access struct {
	Bootstrap      string `json:"bootstrap"`
	Protocol       string `json:"protocol"`
	VerifyHostname bool   `json:"verify_hostname"`
	CA             string `json:"ca"`
	Certificate    string `json:"certificate"`
	Key            string `json:"key"`
	Mechanism      string `json:"mechanism"`
	Username       string `json:"username"`
	Password       string `json:"password"`
	Token          string `json:"token"`
}

// clusterOptions returns how to reach a cluster (eosctl/lab/verify/driver_access.py tells the form).
func clusterOptions(line []byte) ([]kgo.Opt, error) {
	var to access
	if err := json.Unmarshal(line, &to); err != nil {
		return nil, err
	}
	options := []kgo.Opt{kgo.SeedBrokers(strings.Split(to.Bootstrap, ",")...)}
	if strings.HasSuffix(to.Protocol, "SSL") {
		config, err := to.tlsConfig()
		if err != nil {
			return nil, err
		}
		options = append(options, kgo.DialTLSConfig(config))
	}
	if to.Mechanism != "" {
		options = append(options, kgo.SASL(to.mechanism()))
	}
	return options, nil
}

func (to access) mechanism() sasl.Mechanism {
	switch to.Mechanism {
	case "OAUTHBEARER":
		return oauth.Auth{Token: to.Token}.AsMechanism()
	case "PLAIN":
		return plain.Auth{User: to.Username, Pass: to.Password}.AsMechanism()
	case "SCRAM-SHA-256":
		return scram.Auth{User: to.Username, Pass: to.Password}.AsSha256Mechanism()
	}
	return scram.Auth{User: to.Username, Pass: to.Password}.AsSha512Mechanism()
}

func (to access) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if to.CA != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(to.CA)) {
			return nil, errors.New("there is no certificate among the trusted ones")
		}
	}
	if to.Certificate != "" {
		own, err := tls.X509KeyPair([]byte(to.Certificate), []byte(to.Key))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	if !to.VerifyHostname {
		config.InsecureSkipVerify = true // of everything: the chain is verified below, without the name
		config.VerifyConnection = func(state tls.ConnectionState) error {
			others := x509.NewCertPool()
			for _, one := range state.PeerCertificates[1:] {
				others.AddCert(one)
			}
			how := x509.VerifyOptions{Roots: config.RootCAs, Intermediates: others}
			_, err := state.PeerCertificates[0].Verify(how)
			return err
		}
	}
	return config, nil
}
